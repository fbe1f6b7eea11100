"""The tools in a user's own prompt."""

from __future__ import annotations

import logging

import pytest

from bridge.protocol import dialects
from bridge.protocol.injection import FAILED, NO_TOOLS, PREFIX, inject
from tool_manager.models import ToolSpec

pytestmark = pytest.mark.requirement("A15")


@pytest.mark.parametrize("placeholder", ["{{tools}}", "{{ tools }}", "{{   tools}}"])
def test_the_placeholder_is_filled_in(placeholder: str) -> None:
    assert inject(f"You are Bo.\n{placeholder}\r\nBe kind.\n", "- a()") == "You are Bo.\n\n- a()\nBe kind.\n"


def test_a_prompt_of_tools_only_gets_a_beginning() -> None:
    assert inject(" {{ tools }}\n", "- a()") == f"{PREFIX}- a()"


@pytest.mark.parametrize("template", ["", "No place.", "Braces { } {{ '{{tools}}' }}", "{# tools #}", "a\r\nb"])
def test_without_the_placeholder_nothing_changes(template: str) -> None:
    assert inject(template, "- a()") == template


def test_another_name_becomes_nothing() -> None:
    assert inject("You are {{ name }}.\n{{tools}}\n{{ user }}", "- a()") == "You are .\n\n- a()\n"


@pytest.mark.parametrize("reaching", ["''.__class__", "tools.__class__", "'{0.__class__}'.format(tools)"])
def test_what_is_no_text_of_a_prompt_becomes_nothing(reaching: str) -> None:
    assert inject(f"Bo {{{{tools}}}} {{{{ {reaching} }}}}", "- a()") == "Bo \n- a() "


def test_no_tools_and_no_descriptions() -> None:
    assert inject("Hi {{tools}}", "") == f"Hi \n{NO_TOOLS}"
    assert inject("Hi {{tools}}", None) == f"Hi \n{FAILED}"


@pytest.mark.parametrize("text", ["{{ tools }}", "{% for x in y %}", "{{ 1/0 }}", "{#", "}}"])
def test_the_text_of_tools_is_never_rendered(text: str) -> None:
    assert inject("Hi {{tools}}", text) == f"Hi \n{text}"


@pytest.mark.parametrize(
    "template",
    [
        "{{tools",
        "{{tools}} {% if %}",
        "{{tools}} {{ 1/0 }}",
        "{{tools}} {{ tools.__class__.__mro__ }}",
        "{{tools}} {{ range(3) }}",
        "{{tools}} {% include 'system.j2' %}",
        "{{tools}} {{ lipsum.__globals__ }}",
    ],
)
def test_a_broken_template_and_one_that_asks_for_more_stay_as_they_are(
    template: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert inject(template, "- a()") == template
    assert "used as it is" in caplog.text


@pytest.mark.parametrize("name", dialects.names())
def test_a_system_prompt_of_the_users_own(name: str) -> None:
    dialect, tools = dialects.get(name), [ToolSpec("read_file", "Reads {{ tools }}")]
    prompt = dialect.system_prompt(tools, "I am Bo.\n{{tools}}")
    assert prompt.startswith("I am Bo.\n\n")
    assert "Reads {{ tools }}" in prompt
    assert prompt.endswith(dialect.instructions(["read_file"]))
    assert dialect.system_prompt([], "I {{tools}}").startswith(f"I \n{NO_TOOLS}")
    assert dialect.system_prompt([ToolSpec("", "")], "I {{tools}}").startswith(f"I \n{FAILED}")
