"""Where things are kept, and that only we can read them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from bridge.errors import UsageError
from bridge.journal import Journal, paths


def test_the_state_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TABFERRY_STATE_DIR", raising=False)
    assert paths.state_dir().name == "tabferry"
    monkeypatch.setenv("TABFERRY_STATE_DIR", str(tmp_path / "s"))
    assert paths.journal_path() == tmp_path / "s" / "journal.db"
    assert paths.profile_dir("demo") == tmp_path / "s" / "profiles" / "demo"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TABFERRY_STATE_DIR", "relative")
    assert paths.state_dir() == tmp_path / "relative"


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../x", ".hidden", "a\0b", "x" * 65, "ä"])
def test_profile_names_are_no_paths(name: str) -> None:
    with pytest.raises(UsageError, match="not a profile name"):
        paths.profile_dir(name)


def test_the_runtime_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("TABFERRY_RUNTIME_DIR", "XDG_RUNTIME_DIR", "TABFERRY_STATE_DIR"):
        monkeypatch.delenv(name, raising=False)
    assert paths.runtime_dir() == paths.state_dir() / "run"
    system = tmp_path / "system"
    system.mkdir(mode=0o755)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(system))
    assert paths.runtime_dir() == paths.state_dir() / "run"  # open to others: not a real runtime directory
    system.chmod(0o700)
    assert paths.runtime_dir() == system / "tabferry"
    monkeypatch.setenv("TABFERRY_STATE_DIR", str(tmp_path / "s"))
    assert paths.runtime_dir() == tmp_path / "s" / "run"
    monkeypatch.setenv("TABFERRY_RUNTIME_DIR", str(tmp_path / "r"))
    assert paths.runtime_dir() == tmp_path / "r"


def test_directories_are_made_private(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        made = paths.private_dir(tmp_path / "a" / "b" / "c")
    finally:
        os.umask(old)
    for each in (made, made.parent, made.parent.parent):
        assert stat.S_IMODE(each.stat().st_mode) == 0o700
    assert paths.private_dir(made) == made


def test_other_directories_are_refused(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(real)
    (tmp_path / "file").touch()
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o750)
    for name, sentence in (("link", "symbolic link"), ("file", "Cannot use"), ("open", "chmod 700")):
        with pytest.raises(UsageError, match=sentence):
            paths.private_dir(tmp_path / name)
    with pytest.raises(UsageError, match="chmod 700"):
        Journal.open(tmp_path / "open" / "journal.db")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_a_foreign_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir(mode=0o700)
    os.chown(tmp_path / "theirs", 12345, 12345)
    with pytest.raises(UsageError, match="another user"):
        paths.private_dir(tmp_path / "theirs")


def test_a_planted_link_is_not_followed(tmp_path: Path) -> None:
    from bridge.errors import JournalError

    (tmp_path / "journal.db").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(JournalError, match="Cannot open the journal"):
        Journal.open(tmp_path / "journal.db")
    assert not (tmp_path / "elsewhere").exists()
