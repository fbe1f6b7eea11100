from __future__ import annotations

import pytest

from bridge.agent.wish import Wish, choose
from bridge.errors import UsageError


@pytest.mark.requirement("A7", "A8")
@pytest.mark.parametrize(
    ("wishes", "team_xml", "dialect"),
    [
        ([], None, None),
        ([], True, None),
        ([Wish(), Wish()], None, None),
        ([Wish("forge")], None, "forge"),
        ([Wish(provider="OpenAI")], None, "openai_json"),
        ([Wish(provider="unheard of")], None, "default_json"),
        ([Wish(xml=True)], None, "autobyteus_xml"),
        ([Wish(xml=False)], None, None),
        ([Wish(xml=False), Wish("forge")], None, "forge"),
        ([Wish(provider="openai"), Wish("forge")], None, "openai_json"),
        ([Wish(), Wish(provider="gemini"), Wish("forge")], None, "gemini_json"),
        ([Wish(provider="openai"), Wish(xml=True)], None, "autobyteus_xml"),
        ([Wish(provider="openai", xml=False), Wish(xml=True)], None, "openai_json"),
        ([Wish(provider="openai")], True, "autobyteus_xml"),
        ([Wish(provider="openai", xml=True)], False, "openai_json"),
        ([Wish(xml=True), Wish("forge")], False, "forge"),
        ([Wish("forge"), Wish(xml=True)], True, "forge"),
    ],
)
def test_the_first_wish_counts_and_a_team_decides_on_xml(
    wishes: list[Wish], team_xml: bool | None, dialect: str | None
) -> None:
    assert choose(*wishes, team_xml=team_xml) == dialect


@pytest.mark.parametrize("wish", [Wish("forge", "openai"), Wish("forge", xml=True), Wish("forge", "openai", False)])
def test_a_wish_that_contradicts_itself_is_refused(wish: Wish) -> None:
    with pytest.raises(UsageError, match=r"^--dialect names the dialect already: leave out --provider and --xml\.$"):
        wish.check(prefix="--")


def test_a_wish_for_no_xml_goes_with_any_dialect() -> None:
    assert Wish("forge", xml=False).check() == Wish("forge", xml=False)
