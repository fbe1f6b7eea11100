"""One text frame ↔ one JSON-RPC message; every bad frame becomes one error, never an exception of another kind."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, NoReturn

from pydantic import ValidationError

from bridge.relay.errors import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, RelayError
from bridge.relay.messages import SAFE_INTEGER, Params
from bridge.relay.methods import METHODS

RequestId = int | str | None
_MAX_ID = 200


@dataclass(frozen=True, slots=True)
class Request:
    id: int | str
    method: str
    params: Any


def decode(frame: str | bytes) -> Any:
    """The JSON value of a text frame. Raises `RelayError` -32700, or -32600 for a binary frame."""
    if isinstance(frame, bytes):
        raise RelayError(INVALID_REQUEST, "A binary frame is no message; send JSON as text.")
    try:
        return json.loads(frame, parse_constant=_no_constant, parse_float=_finite)
    except RecursionError:
        raise RelayError(PARSE_ERROR, "The message is nested too deeply.") from None
    except ValueError:
        raise RelayError(PARSE_ERROR, "The message is not valid JSON, or holds a number that JSON cannot.") from None


def request_id(message: Any) -> RequestId:
    """The id to answer to, None where the message has no usable one."""
    value = message.get("id") if isinstance(message, dict) else None
    if isinstance(value, str):
        return value if len(value) <= _MAX_ID else None
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= SAFE_INTEGER:
        return value
    return None


def parse_request(message: Any) -> Request:
    """A request's parts. Raises `RelayError` -32600 with what is wrong."""
    if isinstance(message, list):
        raise RelayError(INVALID_REQUEST, "Batches are not accepted; send one message a frame.")
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise RelayError(INVALID_REQUEST, 'A message is a JSON object with "jsonrpc": "2.0".')
    method, identifier = message.get("method"), request_id(message)
    if not isinstance(method, str):
        raise RelayError(INVALID_REQUEST, 'A request names its "method" as text.')
    if identifier is None:
        raise RelayError(INVALID_REQUEST, 'A request needs an "id": a whole number or a short text.')
    return Request(identifier, method, message.get("params", {}))


def parse_params(request: Request) -> Params:
    """The request's params, checked. Raises `RelayError` -32601 or -32602 with the first thing that is wrong."""
    method = METHODS.get(request.method)
    if method is None:
        raise RelayError(METHOD_NOT_FOUND, f"There is no such method; there are: {', '.join(METHODS)}.")
    try:
        return method.params.model_validate(request.params)
    except ValidationError as error:
        raise RelayError(INVALID_PARAMS, f"Bad parameters for {request.method}: {_first(error)}.") from None


def result_frame(identifier: RequestId, result: dict[str, Any]) -> str:
    return encode({"jsonrpc": "2.0", "id": identifier, "result": result})


def error_frame(identifier: RequestId, error: RelayError) -> str:
    body: dict[str, Any] = {"code": error.code, "message": str(error)}
    if error.data is not None:
        body["data"] = error.data
    return encode({"jsonrpc": "2.0", "id": identifier, "error": body})


def notification_frame(method: str, params: dict[str, Any]) -> str:
    return encode({"jsonrpc": "2.0", "method": method, "params": params})


def encode(message: dict[str, Any]) -> str:
    """One line of ASCII, so that lone surrogates in an id or a record cannot break the frame."""
    return json.dumps(message, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _first(error: ValidationError) -> str:
    # The input is left out: it may be long, or secret.
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "params"
    return f"{where[:100]}: {first['msg']}"


def _no_constant(text: str) -> NoReturn:
    raise ValueError(text)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value
