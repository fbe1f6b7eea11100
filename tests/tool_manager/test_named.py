from __future__ import annotations

from typing import Any

import pytest

from tool_manager.named import named

SCHEMA = {"properties": {"where": {"type": "string", "format": "uri"}, "at": {"format": "path"}, "text": {}}}


@pytest.mark.requirement("X5")
@pytest.mark.parametrize(
    ("args", "keys"),
    [
        ({"path": "b.txt"}, ["tree:b.txt"]),
        ({"file": "./a/../b.txt"}, ["tree:b.txt"]),
        ({"filepath": "/ws/b.txt"}, ["tree:b.txt"]),
        ({"file_path": "a\\b.txt"}, ["tree:a/b.txt"]),
        ({"fileName": "/etc/x"}, ["tree:../etc/x"]),
        ({"source": "a", "destination": "b", "directory": "c/"}, ["tree:a", "tree:b", "tree:c"]),
        ({"paths": ["a", "b", "a", 3]}, ["tree:a", "tree:b"]),
        ({"folder": "."}, ["tree:."]),
        ({"where": "b.txt", "at": "c"}, ["tree:b.txt", "tree:c"]),
        ({"text": "b.txt", "message": "path", "path": "", "target": 7, "dir": None}, []),
    ],
)
def test_which_resources_arguments_name(args: dict[str, Any], keys: list[str]) -> None:
    assert list(named(args, SCHEMA, "/ws")) == keys


def test_a_schema_without_properties_is_enough() -> None:
    assert named({"path": "a"}, {"type": "object"}, "/ws") == ("tree:a",)
