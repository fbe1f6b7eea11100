"""Calls between a pair of tags, in JSON: the engine of `tool_call`, `cogency` and `forge`."""
