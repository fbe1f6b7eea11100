"""What pages and models leave between a tag and its JSON: a fence inside the tags, labels of a code block.

Only directly at the edge of the block, never in its JSON: `<TOOL_CALL>`, a fence, `json`, `Copy code`, `{…}`, a fence,
`</TOOL_CALL>`, in any order and number. Nothing else may stand there.
"""

from __future__ import annotations

import re
import string
from typing import Final

from bridge.protocol import limits
from bridge.protocol.jsontext import decode_prefix
from bridge.protocol.tags import SPACE
from tool_manager.models import JsonValue

LABELS: Final = (
    # languages of a fence, which pages show as the title of the block
    "json", "text", "txt", "plaintext", "plain text", "code", "xml", "html", "javascript", "python",
    "bash", "markdown",
    # buttons: de en es fr it nl pl pt
    "Code kopieren", "Kopieren", "Kopiert", "Copy code", "Copy", "Copied", "Copied!", "Edit", "Run", "Wrap", "Download",
    "content_copy", "Copiar código", "Copiar", "Copier le code", "Copier", "Copia codice", "Copia", "Code kopiëren",
    "Kopiëren", "Kopiuj kod", "Kopiuj",
    # cs da fi hu id nb ro sv tr vi
    "Kopírovat kód", "Kopírovat", "Zkopírovat kód", "Kopiér kode", "Kopiér", "Kopioi koodi", "Kopioi", "Kód másolása",
    "Másolás", "Salin kode", "Salin", "Kopier kode", "Kopier", "Copiază codul", "Copiază", "Kopiera kod", "Kopiera",
    "Kodu kopyala", "Kopyala", "Sao chép mã", "Sao chép",
    # ar el he hi ja ko ru th uk zh
    "نسخ الكود", "نسخ الرمز", "نسخ", "Αντιγραφή κώδικα", "Αντιγραφή", "העתק קוד", "העתק", "कोड कॉपी करें", "कॉपी करें",
    "コードをコピーする", "コードをコピー", "コピーする", "コピー", "코드 복사", "복사", "Копировать код", "Копировать",
    "คัดลอกโค้ด", "คัดลอก", "Копіювати код", "Копіювати", "复制代码", "复制", "複製程式碼", "複製代碼", "複製",
)  # fmt: skip
"""What chat pages write beside a code block (ASCII letters in any case; the rest as it stands)."""

_TICKS = limits.MAX_EDGE_FENCE
_FOLD = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_FOLDED = frozenset(label.translate(_FOLD) for label in LABELS)
_PREFIXES = frozenset(label[:end] for label in _FOLDED for end in range(1, len(label)))
_LONGEST = max(map(len, _FOLDED))
_LABEL = re.compile("|".join(map(re.escape, sorted(_FOLDED, key=len, reverse=True))), re.ASCII | re.IGNORECASE)
_FENCE = re.compile(rf"(?:`{{3,{_TICKS}}}|~{{3,{_TICKS}}})[ \t]{{0,4}}[\w+#./-]{{0,{limits.EXCERPT}}}")
_MARKS = frozenset(("`", "``", "~", "~~"))
_FIRST = frozenset("`~").union(*((label[0], label[0].upper()) for label in _FOLDED))
_SPACES = re.compile(f"{SPACE}*")


def skip(data: str, at: int, *, marks: bool) -> tuple[int, bool]:
    """The index after the white space at `at`, with `marks` also after fences and labels; and whether only more text
    can tell what stands there: a bounded number of characters."""
    while True:
        spaces = _SPACES.match(data, at)
        assert spaces is not None
        at = spaces.end()
        end = _mark(data, at) if marks and at < len(data) else at
        if end is None or end == at:
            return at, end is None
        at = end


def only_json(text: str) -> tuple[int, JsonValue]:
    """Where the JSON object begins that is all of `text` but for white space, fences and labels; and the object, None
    if there is no such."""
    text += "\n"  # which ends what stands at its end
    start, _ = skip(text, 0, marks=True)
    value, end = decode_prefix(text, start) if text.startswith("{", start) else (None, 0)
    return start, value if end and skip(text, end, marks=True)[0] == len(text) else None


def _mark(data: str, at: int) -> int | None:
    """Where the fence or label ends that begins at `at`: `at` itself if none does, None if only more text can tell."""
    if data[at] not in _FIRST:
        return at
    if fence := _FENCE.match(data, at):
        return fence.end() if fence.end() < len(data) else None
    if len(data) - at < _LONGEST and (data[at:] in _MARKS or data[at:].translate(_FOLD) in _PREFIXES):
        return None
    label = _LABEL.match(data, at)
    return label.end() if label else at
