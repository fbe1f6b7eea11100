from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest

from tool_manager import models
from tool_manager.models import ToolCall, call_id


@pytest.mark.requirement("A34")
def test_the_id_is_computed_when_it_is_read_and_then_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def counted(name: str, args: models.JsonObject) -> str:
        asked.append(name)
        return call_id(name, args)

    monkeypatch.setattr(models, "call_id", counted)
    call = ToolCall.of("read", {"b": 1, "a": "é"}, "why")
    assert asked == []
    assert call.id == call.id == call_id("read", {"a": "é", "b": 1})
    assert asked == ["read"]


@pytest.mark.requirement("A34")
def test_such_a_call_is_like_any_other() -> None:
    call, same = ToolCall.of("read", {"a": 1}), ToolCall(call_id("read", {"a": 1}), "read", {"a": 1})
    assert call == same
    assert repr(ToolCall.of("read", {"a": 1})) == repr(same)
    assert dataclasses.replace(ToolCall.of("read", {"a": 1}), id="x") == ToolCall("x", "read", {"a": 1})
    assert dataclasses.asdict(ToolCall.of("read", {"a": 1})) == dataclasses.asdict(same)
    assert pickle.loads(pickle.dumps(ToolCall.of("read", {"a": 1}))) == same
    assert copy.deepcopy(ToolCall.of("read", {"a": 1}, written={("a",): "1"})).written == {("a",): "1"}
    assert ToolCall.of("read", {"a": 1}) != ToolCall("x", "read", {"a": 1})


def test_it_has_no_other_attribute() -> None:
    with pytest.raises(AttributeError, match="no nonsense"):
        getattr(ToolCall.of("read", {}), "nonsense")  # noqa: B009
    with pytest.raises(dataclasses.FrozenInstanceError):
        ToolCall.of("read", {}).name = "write"  # type: ignore[misc]
