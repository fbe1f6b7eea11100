"""`tabferry tools`: the ToolManager from the shell."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from tool_manager import Approver, Denial, Grant, Prepared, ToolCall, ToolManager, ToolSpec

app = typer.Typer(
    help="List, show and run the tools a chat can use.",
    epilog="""Example: tabferry tools call read_file '{"path": "README.md"}'""",
)


class Approve(enum.StrEnum):
    """What runs unasked: nothing that changes files, undoable edits, all but the always-ask set, or never ask."""

    ask = "ask"
    edits = "edits"
    auto = "auto"
    none = "none"


Workspace = Annotated[
    Path, typer.Option("--workspace", metavar="DIR", help="The folder that the tools are confined to.")
]
ApproveOption = Annotated[Approve, typer.Option("--approve", help="What runs without asking.")]
Json = Annotated[bool, typer.Option("--json", help="JSON on stdout, for machines.")]
Arguments = Annotated[
    str, typer.Argument(metavar="JSON", help="The arguments as a JSON object; - reads standard input.")
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="A tool's name, as in the list.")]


@app.callback(invoke_without_command=True)
def tools(context: typer.Context) -> None:
    """List, show and run the tools a chat can use."""
    if context.invoked_subcommand is None:
        _print_list(machine=False)


@app.command("list", epilog="Example: tabferry tools list --json")
def list_(workspace: Workspace = Path(), machine: Json = False) -> None:
    """Every tool with its first sentence."""
    _check_workspace(workspace)
    _print_list(machine)


@app.command(epilog="Example: tabferry tools show search_code")
def show(name: Name, workspace: Workspace = Path(), machine: Json = False) -> None:
    """One tool: description and JSON Schema of its arguments."""
    import json

    from bridge.cli.output import print_json

    _check_workspace(workspace)
    spec = _spec(name)
    if machine:
        print_json(_data(spec))
    else:
        typer.echo(f"{spec.name}\n\n{spec.description}\n\n{json.dumps(spec.parameters, indent=2)}")


@app.command(epilog="""Example: tabferry tools call read_file '{"path": "README.md"}' --workspace .""")
def call(
    name: Name,
    arguments: Arguments,
    workspace: Workspace = Path(),
    approve: ApproveOption = Approve.ask,
    machine: Json = False,
) -> None:
    """Run one tool and print {"success", "data", "error"}; exits 1 when it failed or was not allowed."""
    from bridge.cli.output import print_json, run

    request = _request(name, arguments)

    async def work() -> bool:
        async with _manager(workspace, approve, _approver()) as manager:
            result = await manager.execute(request)
        print_json({"success": result.success, "data": result.data, "error": result.error})
        return result.success

    if not run(work()):
        raise typer.Exit(1)


@app.command(epilog="""Example: tabferry tools why write_file '{"path": "Makefile", "content": ""}' --approve auto""")
def why(
    name: Name,
    arguments: Arguments,
    workspace: Workspace = Path(),
    approve: ApproveOption = Approve.ask,
    machine: Json = False,
) -> None:
    """What would be decided about a call, and by which rule: {"decision", "rule", "reason"}. Runs nothing."""
    from bridge.cli.output import print_json, run

    request = _request(name, arguments)

    async def work() -> Prepared:
        async with _manager(workspace, approve, None) as manager:
            return await manager.prepare(request)

    prepared = run(work())
    print_json({"decision": prepared.decision, "rule": prepared.rule, "reason": prepared.reason})


def _check_workspace(workspace: Path) -> None:
    from bridge.cli.output import fail
    from bridge.errors import UsageError

    if not workspace.is_dir():
        fail(UsageError(f"Workspace {workspace} is missing or not a directory. Pass an existing folder."))


def _print_list(machine: bool) -> None:
    from bridge.cli.output import print_json
    from tool_manager import builtin_specs

    for spec in builtin_specs():
        if machine:
            print_json(_data(spec))
        else:
            first, dot, _ = spec.description.partition(". ")
            typer.echo(f"{spec.name:16} {first}{dot.strip()}")


def _data(spec: ToolSpec) -> dict[str, Any]:
    return {"name": spec.name, "description": spec.description, "parameters": spec.parameters}


def _spec(name: str) -> ToolSpec:
    from bridge.cli.output import fail
    from bridge.errors import UsageError
    from tool_manager import builtin_specs

    specs = {spec.name: spec for spec in builtin_specs(hidden=True)}
    if name not in specs:
        fail(UsageError(f"Unknown tool: {name}; known are {', '.join(specs)}."))
    return specs[name]


def _request(name: str, arguments: str) -> ToolCall:
    """The call that the command line asks for; a `UsageError` for bad JSON."""
    import json

    from bridge.cli.output import fail, read_argument
    from bridge.errors import TabferryError, UsageError
    from tool_manager import ToolCall, call_id

    try:
        args = json.loads(read_argument(arguments))
    except TabferryError as error:
        fail(error)
    except (ValueError, RecursionError) as error:
        fail(UsageError(f'The arguments are no JSON ({error}); write them like \'{{"path": "README.md"}}\'.'))
    if not isinstance(args, dict):
        fail(UsageError('The arguments must be a JSON object, like \'{"path": "README.md"}\'.'))
    return ToolCall(call_id(name, args), name, args)


def _manager(workspace: Path, approve: Approve, approver: Approver | None) -> ToolManager:
    from bridge.errors import UsageError
    from tool_manager import PathError, ToolManager

    try:
        return ToolManager(workspace, approve=approve.value, approver=approver)
    except PathError as error:
        raise UsageError(f"{error} Pass an existing folder with --workspace.") from error


def _approver() -> Approver | None:
    """Asks on the terminal; None where nobody sits at one."""
    import sys

    return _ask if sys.stdin.isatty() and sys.stderr.isatty() else None


async def _ask(prepared: Prepared) -> Grant | Denial:
    from bridge.cli.asking import Terminal
    from bridge.cli.output import notice
    from tool_manager import Denial, Grant

    notice(prepared.reason)
    if prepared.diff:
        notice(prepared.diff)
    decision, reason = await Terminal().decide()
    if decision == "approve":
        return Grant(prepared.digest, "terminal")
    return Denial(reason or "the user said no.", "terminal")
