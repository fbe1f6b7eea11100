from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tool_manager.attacks import Site
from tool_manager import MissingError, OutsideError, PathError, Workspace

NAMES = ("a", "b", "c")


def open_count() -> int:
    return len(os.listdir("/dev/fd"))  # noqa: PTH208 (iterdir would count its own descriptor differently)


@pytest.mark.requirement("T42")
def test_the_temporary_root_is_private_allowed_and_removed(site: Site) -> None:
    workspace = Workspace(site.root)
    assert stat.S_IMODE(workspace.temp.stat().st_mode) == 0o700
    (workspace.temp / "x.txt").write_text("x", "utf-8")
    with workspace.locate(f"{workspace.temp}/x.txt") as place:
        assert (place.kind, place.path) == ("file", f"{workspace.temp}/x.txt")
    with pytest.raises(OutsideError):
        workspace.locate(f"{workspace.temp}/../x")
    workspace.close()
    assert not workspace.temp.exists()


@pytest.mark.parametrize("root", ["missing", "README.md"])
def test_a_root_that_is_no_directory_is_one_sentence(site: Site, root: str) -> None:
    with pytest.raises(PathError, match=r"^Workspace .* is missing or not a directory\.$"):
        Workspace(site.root / root)


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        ("", PathError, "empty"),
        ("a\0b", PathError, "NUL"),
        ("\ud800", PathError, "Unicode"),
        ("..", OutsideError, "Path traversal not allowed"),
        ("missing/../../x", OutsideError, "Path traversal not allowed"),
        ("missing/../x", MissingError, "File not found: missing/../x"),
        ("README.md/x", PathError, "Not a directory"),
        ("README.md/", PathError, "Not a directory"),
        ("README.md/.", PathError, "Not a directory"),
        ("x" * 300, PathError, "name is too long"),
    ],
)
@pytest.mark.requirement("T40", "X7")
def test_refused(site: Site, path: str, error: type[Exception], message: str) -> None:
    before = open_count()
    workspace = Workspace(site.root)
    with pytest.raises(Exception, match=message) as caught:
        workspace.locate(path)
    assert isinstance(caught.value, error) or error is PathError
    workspace.close()
    assert open_count() == before


@pytest.mark.parametrize(
    ("path", "canonical", "kind"),
    [
        (".", ".", "directory"),
        ("./", ".", "directory"),
        ("src//a.py", "src/a.py", "file"),
        ("sub/../src/./a.py", "src/a.py", "file"),
        ("new/deep/x", "new/deep/x", "missing"),
        ("-rf", "-rf", "missing"),
        ("src/test..", "src/test..", "missing"),
    ],
)
def test_allowed(site: Site, path: str, canonical: str, kind: str) -> None:
    workspace = Workspace(site.root)
    with workspace.locate(path) as place:
        assert (place.path, place.kind) == (canonical, kind)
    workspace.close()


@pytest.mark.requirement("X7")
def test_links_are_expanded_inside_and_every_spelling_is_kept_for_policy(site: Site) -> None:
    (site.root / "one").symlink_to("two")
    (site.root / "two").symlink_to(f"{site.root}/.git")
    workspace = Workspace(site.root)
    with workspace.locate("one/config") as place:
        assert place.path == ".git/config"
        assert set(place.names) == {"one/config", "two/config", ".git/config"}
    workspace.close()


def test_endless_links_are_a_sentence(site: Site) -> None:
    (site.root / "x").symlink_to("y")
    (site.root / "y").symlink_to("x")
    workspace = Workspace(site.root)
    with pytest.raises(PathError, match="too many links"):
        workspace.locate("x")
    workspace.close()


def test_a_root_reached_through_a_link_knows_both_spellings(site: Site) -> None:
    link = site.parent / "link"
    link.symlink_to(site.root)
    workspace = Workspace(link)
    for spelling in (link, site.root):
        with workspace.locate(f"{spelling}/src/a.py") as place:
            assert place.path == "src/a.py"
    workspace.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_an_unreadable_file_is_a_sentence(site: Site) -> None:
    (site.root / "noperm.txt").touch(0o000)
    workspace = Workspace(site.root)
    with pytest.raises(Exception, match=r"^Permission denied: noperm\.txt$"):
        workspace.open_file("noperm.txt")
    workspace.close()


def model(root: Path, path: str) -> str | None:
    """What the walk should say, computed on names alone: the canonical path, None when it leaves."""
    at, rest, steps = root, path.split("/")[::-1], 0
    while rest:
        part = rest.pop()
        if part in {"", "."}:
            continue
        if part == "..":
            if at == root:
                return None
            at = at.parent
        elif (at / part).is_symlink():
            steps += 1
            assert steps <= 200
            target = str((at / part).readlink())
            if target.startswith("/"):
                if target != str(root) and not target.startswith(f"{root}/"):
                    return None
                at, target = root, target[len(str(root)) :]
            rest += target.split("/")[::-1]
            if steps > 40:
                raise OSError("too many links")
        else:
            at = at / part
            if not at.is_dir():  # the tree holds directories and links only
                if ".." in rest:
                    raise OSError("missing")
                return os.path.relpath(at.joinpath(*rest[::-1]), root)
    return os.path.relpath(at, root)


targets = st.lists(st.sampled_from([*NAMES, "..", "."]), min_size=1, max_size=4).map("/".join)
links = st.tuples(
    st.sampled_from(["a", "b", "c", "a/b", "b/c", "a/c"]), targets, st.sampled_from(["", "{ROOT}/", "/tmp/"])
)


@pytest.mark.requirement("X7")
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(links, max_size=4),
    st.lists(st.sampled_from([*NAMES, "..", ".", ""]), min_size=1, max_size=6).map("/".join).filter(bool),
)
def test_the_walk_agrees_with_a_model(
    tmp_path_factory: pytest.TempPathFactory, made: list[tuple[str, str, str]], path: str
) -> None:
    root = tmp_path_factory.mktemp("tree").resolve()
    for name in ("a", "b"):
        (root / name).mkdir()
    for name, target, prefix in made:
        if (root / name).parent.is_dir() and not (root / name).exists() and not (root / name).is_symlink():
            (root / name).symlink_to(prefix.replace("{ROOT}", str(root)) + target)
    path = path.lstrip("/") or "."
    workspace, found = Workspace(root), open_count()
    try:
        expected = model(root, path)
    except OSError:
        with pytest.raises(PathError):
            workspace.locate(path).close()
    else:
        if expected is None:
            with pytest.raises(PathError):
                workspace.locate(path).close()
        else:
            try:
                with workspace.locate(path) as place:
                    assert place.path == expected
                    assert place.kind == "missing" or os.path.realpath(root / path) == str(root / expected)
            except MissingError:
                assert not (root / path).exists()
    assert open_count() == found
    workspace.close()
