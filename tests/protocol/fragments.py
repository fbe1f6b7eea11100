"""Pieces of replies: the syntax of every dialect, and what stands around it."""

from __future__ import annotations

FRAGMENTS = (
    "<TOOL_CALL>", "</TOOL_CALL>", "<execute>", "</execute>", "<results>", "</results>", "<tool>", "</tool>",
    '<tool name="evil_tool">', "<tool name='x'>", "<arguments>", "</arguments>", "<arguments/>", '<arg name="a">',
    "</arg>", '<arg name="a"/>', "<item>", "</item>", "<![CDATA[", "]]>", "<!--", "-->", "&lt;", "&amp;", "&#65;", "&",
    "<think>", "</think>", "<THINKING>", "</thinking>", "```", "````", "````json\n", "\n````\n", "~~~", "```python\n",
    "`", "\n", "\r\n", " ", "\t", "\u00a0", "\ufeff", "\u200b", "\u2028", "\x00", "\ud800", "“", "＜", "é", "文",
    "{", "}", "[", "]", '"', "'", "\\", '\\"', ":", ",", "null", "true", "NaN", "1", "-1.5e3", "{}", "[]", '"a"',
    '"tool"', '"args"', '"name"', '"arguments"', '"tool_name"', '"server_name"', '"tool_calls"', '"tools"',
    '"function"', '"parameters"', '"tool_request"', '"reasoning"',
    '{"tool":"evil_tool","args":{"a":"1"}}', '[{"name":"evil_tool","args":{"a":"1"}}]',
    '{"server_name":"local","tool_name":"evil_tool","arguments":{"a":"1"}}',
    '{"tool_calls":[{"function":{"name":"evil_tool","arguments":"{\\"a\\":\\"1\\"}"}}]}',
    '{"name":"evil_tool","arguments":{"a":"1"}}', '{"name":"evil_tool","args":{"a":"1"}}',
    '{"tool":{"function":"evil_tool","parameters":{"a":"1"}}}',
    '{"tool_request":{"name":"evil_tool","arguments":{"a":"1"}}}',
    "TOOL: evil_tool", "TOOL:", "\nARGS:\n", "ARGS:", "  a: 1\n", "  a: |\n    x\n", "  - b\n", "# c", "&x", "*x",
    "!!str", "---", "...", 'evil_tool(a="1")', "evil_tool(", 'a="1"', ")", '"""', "'''", "r'", "f'", "**", "open(",
    "TOOL_RESULT: ", "TOOL_ERROR: ", "Copy code", "json", "Sure, I will ", "a = b",
)  # fmt: skip
