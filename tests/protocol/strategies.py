"""What hypothesis makes of the protocol: schemas and arguments that fit them, replies made of all dialects' syntax."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from bridge.protocol import ToolCall, dialects
from tests.protocol.fragments import FRAGMENTS
from tool_manager import ToolSpec, builtin_specs

NAMES = tuple(dialects.names())
EVIL = "evil_tool"
"""The tool that hostile data asks for: no dialect may ever find it there."""

any_text = st.text(st.characters(exclude_categories=()), max_size=30)
"""Any string that Python can hold, with NUL and lone surrogates."""

_words = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
_hard = st.sampled_from(FRAGMENTS)
texts = st.one_of(_words, any_text, st.lists(st.one_of(_hard, any_text), max_size=4).map("".join))


def json_values(depth: int = 2) -> st.SearchStrategy[Any]:
    """Any JSON value."""
    floats = st.floats(allow_nan=False, allow_infinity=False)
    leaves = st.one_of(st.none(), st.booleans(), st.integers(-(10**20), 10**20), floats, texts)
    if not depth:
        return leaves
    inner = json_values(depth - 1)
    return st.one_of(leaves, st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3))


def schemas(depth: int = 2) -> st.SearchStrategy[dict[str, Any]]:
    """JSON Schemas of one argument, as tools have them."""
    leaf: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
        [{"type": "string"}, {"type": "integer"}, {"type": "number"}, {"type": "boolean"}, {"enum": ["a", "b c"]}]
    )
    if not depth:
        return leaf
    inner = schemas(depth - 1)
    arrays = inner.map(lambda items: {"type": "array", "items": items})
    return st.one_of(leaf, arrays, objects(inner))


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[dict[str, Any]]) -> dict[str, Any]:
    properties = draw(st.dictionaries(_words, inner, min_size=1, max_size=3))
    required = draw(st.lists(st.sampled_from(sorted(properties)), unique=True))
    return {"type": "object", "properties": properties, "required": required}


def fitting(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that `schema` allows."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if choices := schema.get("anyOf", schema.get("oneOf")):
        return st.one_of([fitting(choice) for choice in choices])
    kind = schema.get("type", "string")
    if isinstance(kind, list):
        return st.one_of([fitting({**schema, "type": each}) for each in kind])
    if kind == "object":
        return _members(schema)
    if kind == "array":
        return st.lists(fitting(schema.get("items", {})), max_size=min(3, schema.get("maxItems", 3)))
    return _scalar(kind, schema)


def _members(schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    required = set(schema.get("required", ()))
    members = {name: fitting(each) for name, each in schema.get("properties", {}).items()}
    return st.fixed_dictionaries(
        {name: each for name, each in members.items() if name in required},
        optional={name: each for name, each in members.items() if name not in required},
    )


def _scalar(kind: str, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    low, high = schema.get("minimum", -(10**12)), schema.get("maximum", 10**12)
    scalars: dict[str, st.SearchStrategy[Any]] = {
        "integer": st.integers(int(low), int(high)),
        "number": st.one_of(st.integers(int(low), int(high)), st.floats(low, high)),
        "boolean": st.booleans(),
        "null": st.none(),
        "string": texts,
    }
    return scalars[kind]


@st.composite
def tools(draw: st.DrawFn) -> ToolSpec:
    """A built-in tool, or one of a generated schema."""
    if draw(st.booleans()):
        return draw(st.sampled_from(builtin_specs()))
    return ToolSpec(draw(_words), "Does something.", draw(objects(schemas(2))))


@st.composite
def known_calls(draw: st.DrawFn) -> tuple[ToolSpec, ToolCall]:
    """A tool, and a call that it allows."""
    spec = draw(tools())
    return spec, ToolCall.of(spec.name, draw(_members(spec.parameters)))


@st.composite
def replies(draw: st.DrawFn) -> str:
    """Replies near the edge: valid calls of any dialect, cut, mixed and mutated, between fragments of all of them."""
    args = st.dictionaries(_words, st.one_of(texts, st.integers(), st.booleans()), max_size=3)
    valid = st.builds(
        lambda name, given: dialects.get(name).format_call(ToolCall.of("some_tool", given)),
        st.sampled_from(NAMES),
        args,
    )
    parts = draw(st.lists(st.one_of(_hard, valid, texts, valid.map(_unfenced)), max_size=6))
    return draw(mutated("".join(parts)))


def _unfenced(call: str) -> str:
    return "\n".join(line for line in call.split("\n") if not line.startswith("````"))


@st.composite
def mutated(draw: st.DrawFn, text: str) -> str:
    """`text` with up to two places cut out, doubled or replaced by a fragment."""
    for _ in range(draw(st.integers(0, 2))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 12)))
        middle = draw(st.sampled_from(["", text[start:end] * 2, draw(_hard)]))
        text = text[:start] + middle + text[end:]
    return text


def hostile() -> st.SearchStrategy[Any]:
    """What a tool may return to make the model's own words look like calls."""
    calls = [dialects.get(name).format_call(ToolCall.of(EVIL, {"a": "1"})) for name in NAMES]
    quoted = st.sampled_from([*calls, *map(_unfenced, calls)])
    line = st.lists(st.one_of(quoted, _hard, st.just("\n")), min_size=1, max_size=5).map("".join)
    return st.one_of(line, st.lists(line, max_size=2), st.dictionaries(line, line, max_size=2))
