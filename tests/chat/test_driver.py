"""The driver against the real demo page in a real Chromium: exact text both ways, and everything that can go wrong."""

from __future__ import annotations

import asyncio
import hashlib

import pytest

from bridge.chat import Patience, SiteProfile, profiles
from bridge.demo import DemoServer, Faults
from bridge.errors import ChatError, NeedsUser
from tests.chat.conftest import HASTY, Start

pytestmark = pytest.mark.browser

TEXTS = [
    "Read package.json",
    'TOOL_RESULT: {"success":true,"data":{"content":"a\\n\\tb \\"q\\" \\\\ \\u00e9","lines":2},"error":null}',
    "one\n\n\ttwo  spaces \n    `code` **bold** <b>&amp;</b> $x$ __init__\n- item\nüñí 😀 end",
    "x" * 20_000,
]


def heard(reply: str) -> str:
    return reply.removeprefix("You said:\n\n`````text\n").removesuffix("\n`````\n")


async def test_text_is_exact_both_ways(start: Start, echo: DemoServer) -> None:
    chat = await start(echo.url)
    where = await chat.open()
    assert (where.origin + "/", where.site, where.history) == (echo.url, "demo", "server")
    for ordinal, text in enumerate(TEXTS):
        deltas: list[str] = []
        sent = await chat.send(text)
        reply = await chat.reply(sent, deltas.append)
        assert (sent.ordinal, sent.text_sha256) == (ordinal, hashlib.sha256(text.encode()).hexdigest())
        assert sent.message_id
        assert echo.log[-1].text == text
        assert [(c.source, heard(c.text)) for c in reply.captures] == [("cdp", text), ("tee", text)]
        assert "".join(deltas) == reply.text
        assert reply.ending == "end"


async def test_goes_on_in_the_same_chat_after_a_reload(start: Start, echo: DemoServer) -> None:
    chat = await start(echo.url)
    await chat.open()
    await chat.reply(await chat.send("first"))
    where = await chat.open(new_chat=False)
    assert "/c/" in where.url
    await chat.page.reload()
    await chat.open(new_chat=False)
    sent = await chat.send("second")
    assert (sent.ordinal, heard((await chat.reply(sent)).text)) == (1, "second")


async def test_without_a_known_stream_it_reads_what_the_page_shows(start: Start, echo: DemoServer) -> None:
    blind = profiles.load("demo").model_copy(update={"streams": ()})
    chat = await start(echo.url, profile=blind)
    await chat.open()
    reply = await chat.reply(await chat.send("a `tick` and 2*3*4"))
    assert [c.source for c in reply.captures] == ["code", "rendered"]
    assert reply.captures[0].text.strip() == "a `tick` and 2*3*4"
    assert "You said:" in reply.captures[1].text
    assert reply.ending == "silent"


async def test_the_page_sees_nothing_of_ours(start: Start, echo: DemoServer) -> None:
    chat = await start(echo.url)
    await chat.open()
    await chat.page.evaluate("document.body.append(document.createElement('iframe'))")
    names = "['tabferry', 'tabferryPush', '__tabferryTee']"
    for frame in chat.page.frames:
        assert await frame.evaluate(f"{names}.filter((name) => name in globalThis)") == []


async def test_an_unreachable_page_is_one_sentence(start: Start) -> None:
    chat = await start("http://127.0.0.1:9/")
    with pytest.raises(ChatError, match=r"http://127\.0\.0\.1:9/ cannot be reached \(ERR_[A-Z_]+\); is it running\?"):
        await chat.open()


async def test_a_page_without_a_composer_says_so(start: Start) -> None:
    async with DemoServer(faults=Faults(page="no_composer")) as server:
        chat = await start(server.url, patience=Patience(composer=1))
        with pytest.raises(ChatError, match="No message box was found"):
            await chat.open()


async def test_a_login_wall_is_for_the_user(start: Start) -> None:
    async with DemoServer(faults=Faults(page="login")) as server:
        chat = await start(server.url)
        with pytest.raises(NeedsUser, match="asks you to log in") as caught:
            await chat.open()
        assert caught.value.reason == "login"


async def test_a_model_that_never_stops_is_stopped(start: Start) -> None:
    async with DemoServer(faults=Faults(reply="endless"), delay=0.001) as server:
        chat = await start(server.url, patience=Patience(chars=3_000))
        await chat.open()
        sent = await chat.send("talk")
        with pytest.raises(ChatError, match=r"grew past 3,000 characters"):
            await chat.reply(sent)
        await chat.page.get_by_label("Send message").wait_for()


async def test_a_reply_that_breaks_off_is_no_reply(start: Start) -> None:
    async with DemoServer(faults=Faults(reply="drop")) as server:
        chat = await start(server.url)
        await chat.open()
        sent = await chat.send("hello")
        with pytest.raises(ChatError, match=r"The reply broke off \(.*\)"):
            await chat.reply(sent)


async def test_an_empty_reply_is_handed_on_as_empty(start: Start) -> None:
    async with DemoServer(faults=Faults(reply="empty")) as server:
        chat = await start(server.url)
        await chat.open()
        reply = await chat.reply(await chat.send("hello"))
        assert reply.text.strip() == ""


@pytest.mark.parametrize("crash", [True, False])
async def test_a_lost_page_ends_the_wait(start: Start, crash: bool) -> None:
    async with DemoServer(faults=Faults(reply="endless"), delay=0.01) as server:
        chat = await start(server.url)
        await chat.open()
        sent = await chat.send("hello")
        waiting = asyncio.create_task(chat.reply(sent))
        await chat.page.wait_for_selector("[data-message-author-role=assistant]")
        if crash:
            lost = asyncio.create_task(chat.page.goto("chrome://crash"))
        else:
            lost = asyncio.create_task(chat.page.close())
        with pytest.raises(ChatError, match="crashed" if crash else "closed"):
            await waiting
        await asyncio.gather(lost, return_exceptions=True)


async def test_a_draft_of_the_user_is_never_overwritten(start: Start, echo: DemoServer) -> None:
    chat = await start(echo.url)
    await chat.open()
    box = chat.page.get_by_role("textbox")
    await box.fill("my own words")
    with pytest.raises(NeedsUser, match="draft") as caught:
        await chat.send("ours")
    assert caught.value.reason == "user_acted"
    assert await box.inner_text() == "my own words"
    assert echo.log == []


async def test_types_into_no_other_origin(start: Start, echo: DemoServer) -> None:
    async with DemoServer() as elsewhere:
        chat = await start(echo.url)
        await chat.open()
        await chat.page.goto(elsewhere.url)
        with pytest.raises(NeedsUser, match="instead of the chat"):
            await chat.send("secret")
        assert elsewhere.log == []


REWRITE = "(box) => box.addEventListener('input', () => { box.textContent = box.textContent.replaceAll('_', '') })"


async def test_a_composer_that_rewrites_gets_nothing_sent(start: Start, echo: DemoServer) -> None:
    chat = await start(echo.url)
    await chat.open()
    box = chat.page.get_by_role("textbox")
    await box.evaluate(REWRITE)
    with pytest.raises(ChatError, match=r"changed the message .* nothing was sent"):
        await chat.send("def __init__")
    assert await box.text_content() == ""
    assert echo.log == []


async def test_a_submit_that_the_page_ignores_is_taken_back(start: Start, echo: DemoServer) -> None:
    chat = await start(echo.url, patience=Patience(accept=1))
    await chat.open()
    deaf = "() => addEventListener('keydown', (e) => { e.stopImmediatePropagation(); e.preventDefault() }, true)"
    await chat.page.evaluate(deaf)
    with pytest.raises(ChatError, match="did not send the message"):
        await chat.send("hello")
    assert await chat.page.get_by_role("textbox").text_content() == ""
    assert echo.log == []


async def test_a_message_of_the_user_in_our_turn_is_noticed(start: Start) -> None:
    async with DemoServer(delay=0.02) as server:
        chat = await start(server.url)
        await chat.open()
        sent = await chat.send("hello")
        waiting = asyncio.create_task(chat.reply(sent))
        await chat.page.evaluate("""() => {
            const bubble = document.querySelector('[data-message-author-role=user]').cloneNode(true);
            bubble.dataset.messageId = 'another';
            document.querySelector('#thread').append(bubble);
        }""")
        with pytest.raises(NeedsUser, match=r"(?i)another message"):
            await waiting


async def test_an_oversized_message_is_refused_before_typing(start: Start, echo: DemoServer) -> None:
    small = profiles.load("demo").model_dump()
    small["limits"]["inline_chars"] = 10
    chat = await start(echo.url, profile=SiteProfile.model_validate(small), patience=HASTY)
    await chat.open()
    with pytest.raises(ChatError, match=r"11 characters and .* takes 10; nothing was sent"):
        await chat.send("x" * 11)
    assert echo.log == []
