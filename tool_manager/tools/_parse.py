"""Run as a program of its own (`python -I -S`): parses source text, executes none of it.

A hostile file can exhaust the stack or the memory of the parser; here that ends this process, not the bridge.
Input: one JSON object a line, {"kind": "python" | "json" | "toml", "data": base64}. Output: for each, one line
[[line, column, message], …].
"""

import base64
import json
import sys
import tomllib
import warnings

_MEMORY = 2 * 1024**3  # bytes; a file of 1 MB parses in a twentieth of it


def check(kind: str, data: bytes) -> list[list[int | str]]:
    """The errors in `data` as [line, column, message], both counted from 1."""
    try:
        if kind == "python":
            compile(data, "<file>", "exec", dont_inherit=True)
        elif kind == "json":
            json.loads(data.decode("utf-8-sig"))
        else:
            tomllib.loads(data.decode("utf-8"))
    except SyntaxError as error:
        return [[error.lineno or 1, error.offset or 1, error.msg]]
    except json.JSONDecodeError as error:
        return [[error.lineno, error.colno, error.msg]]
    except tomllib.TOMLDecodeError as error:
        return [_toml(str(error))]
    except (RecursionError, MemoryError):
        return [[1, 1, "nested too deeply to be parsed"]]
    except UnicodeDecodeError as error:
        return [[data.count(b"\n", 0, error.start) + 1, 1, "not valid UTF-8"]]
    except ValueError as error:
        return [[1, 1, str(error)]]
    return []


def _toml(message: str) -> list[int | str]:
    """tomllib tells the position only in its text: `… (at line 3, column 7)`."""
    text, _, place = message.rpartition(" (at ")
    numbers = [int(word.strip(",)")) for word in place.split() if word.strip(",)").isdigit()]
    return [*numbers, text] if len(numbers) == 2 else [1, 1, message]


def main() -> None:
    warnings.simplefilter("ignore")  # a SyntaxWarning of the user's is not ours to print
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    except (ImportError, OSError, ValueError):
        pass  # macOS may refuse it; the process is still on its own
    for line in sys.stdin:
        job = json.loads(line)
        findings = check(job["kind"], base64.b64decode(job["data"]))
        # A message can quote a name of a megabyte, and be longer than a line that the bridge reads.
        print(json.dumps([[line, column, str(text)[:1000]] for line, column, text in findings]), flush=True)


if __name__ == "__main__":
    main()
