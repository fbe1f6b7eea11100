"""What every test starts from: folders of its own instead of the user's, and properties without deadlines."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import settings

# A shared machine pauses a test for longer than any deadline that would say something about the code.
# The same examples in every run: a commit passes or fails for what it holds. New ones are the fuzzer's (`make soak`).
settings.register_profile("tabferry", deadline=None, derandomize=True)
settings.load_profile("tabferry")

_numbers = count()


@pytest.fixture(autouse=True)
def own_folders(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test meets the journal, the browser profile, the configuration or a live bridge of whoever runs it."""
    home = tmp_path_factory.getbasetemp() / f"home{next(_numbers)}"
    for name in ("STATE", "RUNTIME", "CONFIG"):
        monkeypatch.setenv(f"TABFERRY_{name}_DIR", str(home / name.lower()))
