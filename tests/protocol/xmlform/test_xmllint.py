"""Remarks on replies that look as if they held a call, or a result."""

from __future__ import annotations

import pytest

from bridge.protocol import ResponseParser

PARSER = ResponseParser("autobyteus_xml")


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ("<tool name=“t”></tool>", ["", "smart_quotes"]),
        ('&lt;tool name="t"&gt;', ["", "entities"]),
        ('<Tool name="t"></Tool>', [""]),
        ('< tool name="t"></tool>', [""]),
        ('＜tool name="t"＞', [""]),
        ('<tool_call name="t"></tool_call>', [""]),
        ("a <toolbox> and &lt;b&gt;", []),
    ],
)
def test_look_alikes(text: str, reasons: list[str]) -> None:
    reply = PARSER.parse(text)
    assert (reply.kind, reply.text) == ("text", text)
    assert [found.reason for found in reply.diagnostics] == reasons
    assert (reply.problem is not None) is bool(reasons)
    assert all("<" not in found.message for found in reply.diagnostics)
    assert not PARSER.parse(text + '<tool name="ok"></tool>').diagnostics


@pytest.mark.requirement("T29")
@pytest.mark.parametrize("result", ["TOOL_RESULT: {}", "The following tool executions have completed. Please"])
def test_results_that_the_model_wrote(result: str) -> None:
    reply = PARSER.parse(f'<tool name="ok"></tool>\n{result}')
    assert [found.code for found in reply.diagnostics] == ["model_written_result"]
    assert len(reply.calls) == 1
