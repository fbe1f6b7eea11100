"""The built-in tools, one file each; a new one is a file and a line here."""

from __future__ import annotations

from tool_manager.tools.get_diagnostics import GET_DIAGNOSTICS
from tool_manager.tools.list_files import LIST_FILES_TOOL
from tool_manager.tools.loop_breaking import ASK_QUESTION, CONVERSE, TASK_COMPLETION
from tool_manager.tools.read_file import READ_FILE
from tool_manager.tools.search_code import SEARCH_CODE
from tool_manager.tools.write_file import WRITE_FILE

__all__ = ["BUILT_IN"]

BUILT_IN = (
    READ_FILE,
    WRITE_FILE,
    LIST_FILES_TOOL,
    SEARCH_CODE,
    GET_DIAGNOSTICS,
    TASK_COMPLETION,
    ASK_QUESTION,
    CONVERSE,
)
