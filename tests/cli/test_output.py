from __future__ import annotations

import asyncio
import json

import pytest
import typer

from bridge.cli.output import print_json, run, visible
from bridge.errors import ChatError, NeedsUser, TabferryError, TaskCancelled, UsageError


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ChatError("The page is gone."), 1),
        (UsageError("No such site."), 2),
        (NeedsUser("login", "Log in first."), 3),
        (TaskCancelled("The task was cancelled."), 130),
        (ValueError("a bug"), 1),
    ],
)
def test_an_error_is_its_sentence_and_its_exit_code(
    error: Exception, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    async def work() -> None:
        raise error

    with pytest.raises(typer.Exit) as caught:
        run(work())
    assert caught.value.exit_code == code
    out, err = capsys.readouterr()
    assert (out, str(error) in err, err.count("\n")) == ("", True, 1)


def test_ctrl_c_lets_the_work_clean_up_and_is_130(capsys: pytest.CaptureFixture[str]) -> None:
    cleaned = []

    async def work() -> None:
        try:
            asyncio.get_running_loop().call_soon(_interrupt)
            await asyncio.Event().wait()
        finally:
            cleaned.append(True)

    with pytest.raises(typer.Exit) as caught:
        run(work())
    assert (caught.value.exit_code, cleaned) == (130, [True])
    assert "interrupted" in capsys.readouterr().err


def _interrupt() -> None:
    import signal

    signal.raise_signal(signal.SIGINT)


def test_a_sentence_cannot_drive_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    async def work() -> None:
        raise TabferryError("\x1b]0;owned\x07 failed")

    with pytest.raises(typer.Exit):
        run(work())
    assert "\x1b" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[31mred",
        "a\rb",
        "a\x08b",
        "\x9b2J",
        "\u202egnp.exe",
        "\u2066x\u2069",
        "a\u200bb",
        "\ud800",
        "\x00",
        "\u2028",
    ],
)
def test_what_a_terminal_would_obey_is_shown_instead(text: str) -> None:
    shown = visible(text)
    assert "\\" in shown
    assert shown.isprintable()
    shown.encode("utf-8")


@pytest.mark.parametrize("text", ["plain", "zwei\nZeilen\tund Tab", "äöü 日本語 🎉", ""])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


def test_json_is_one_ascii_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"text": "ä\n\x1b\u2028\ud800"})
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert out.isascii()
    assert "\x1b" not in out
    assert json.loads(out)["text"].startswith("ä\n\x1b")
