"""What a tool, a path or a registration can fail with; `str(error)` is the one sentence that model and user read.

ToolError               a tool could not do what it was asked; becomes a failure result
├── PathError           the path cannot be used (empty, NUL, a file where a directory is needed, …)
│   ├── OutsideError    the path leaves the workspace (T40)
│   └── MissingError    nothing is there
└── ChangedError        a file is no longer what it was when the call was prepared
RegistrationError       a tool definition cannot be registered; says what to change
"""

from __future__ import annotations

import errno


class ToolError(Exception):
    """The root of everything that becomes `ToolResult.fail(str(error))`."""


class PathError(ToolError):
    pass


class OutsideError(PathError):
    def __init__(self, path: str) -> None:
        super().__init__(f"Path traversal not allowed: {shown(path)} is outside the workspace.")


class MissingError(PathError):
    def __init__(self, path: str) -> None:
        super().__init__(f"File not found: {path}")


class ChangedError(ToolError):
    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path} changed after this call was prepared; nothing was written. Read it again, then retry."
        )


class RegistrationError(ValueError):
    pass


def shown(text: str, limit: int = 200) -> str:
    """`text` safe to print on one line: control characters escaped, long text cut."""
    inert = text[:limit].encode("unicode_escape").decode("ascii") if not text.isprintable() else text[:limit]
    return inert + ("…" if len(text) > limit else "")


_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EIO: "the disk reported an input/output error",
    errno.EROFS: "the file system is read-only",
    errno.ENAMETOOLONG: "the name is too long",
    errno.EMFILE: "too many files are open",
}


def os_sentence(error: OSError, path: str) -> ToolError:
    """`error` on `path` as one sentence (T30, T39)."""
    name = shown(path)
    if isinstance(error, FileNotFoundError):
        return MissingError(name)
    if isinstance(error, PermissionError):
        return ToolError(f"Permission denied: {name}")
    if isinstance(error, IsADirectoryError):
        return PathError(f"Path is a directory, not a file: {name}. Use list_files instead.")
    if isinstance(error, NotADirectoryError):
        return PathError(f"Not a directory: part of {name} is a file.")
    if error.errno == errno.ELOOP:
        return PathError(f"{name} passes through a link that changed while it was used, or through too many links.")
    reason = _REASONS.get(error.errno or 0) or (error.strerror or type(error).__name__).lower()
    return ToolError(f"{name} could not be used: {reason}.")
