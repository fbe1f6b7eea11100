"""`python -m bridge.relay.schema` prints the JSON Schema of every message, the same bytes for the same models."""

from __future__ import annotations

import json
import sys
from typing import Any

from pydantic.json_schema import models_json_schema

from bridge.relay.errors import CODES
from bridge.relay.methods import METHODS, NOTIFICATIONS


def schema() -> dict[str, Any]:
    """`{"methods": {name: {params, result, roles}}, "notifications": {…}, "errors": {name: code}, "$defs": …}`."""
    inputs = {method.params for method in METHODS.values()}
    outputs = {method.result for method in METHODS.values()} | set(NOTIFICATIONS.values())
    _, definitions = models_json_schema(
        [
            *((model, "validation") for model in sorted(inputs, key=_name)),
            *((model, "serialization") for model in sorted(outputs, key=_name)),
        ],
        ref_template="#/$defs/{model}",
    )
    methods = {
        name: {"params": _ref(method.params), "result": _ref(method.result), "roles": list(method.roles)}
        for name, method in METHODS.items()
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Tabferry relay",
        "methods": methods,
        "notifications": {name: _ref(model) for name, model in NOTIFICATIONS.items()},
        "errors": CODES,
        "$defs": definitions["$defs"],
    }


def _name(model: type) -> str:
    return model.__name__


def _ref(model: type) -> dict[str, str]:
    return {"$ref": f"#/$defs/{model.__name__}"}


if __name__ == "__main__":
    json.dump(schema(), sys.stdout, indent=2, sort_keys=True)
    sys.stdout.write("\n")
