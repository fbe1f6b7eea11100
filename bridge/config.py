"""What the user chose: defaults < `config.toml` < `TABFERRY_*` < flags. A workspace never chooses anything here."""

from __future__ import annotations

import os
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from bridge.agent.choices import DEFAULT_DIALECT, Choices
from bridge.agent.limits import MAX_ITERATIONS
from bridge.agent.wish import Wish, choose
from bridge.errors import UsageError

ENV_PREFIX = "TABFERRY_"


def config_file() -> Path:
    """`config.toml` in `TABFERRY_CONFIG_DIR`, else in the user's configuration directory; it need not exist."""
    chosen = os.environ.get("TABFERRY_CONFIG_DIR")
    return Path(chosen or platformdirs.user_config_dir("tabferry")) / "config.toml"


class Team(BaseModel):
    """What the sessions of a team share: `[teams.NAME]`, chosen with `team`. Its `xml` overrules theirs (A8)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    dialect: str | None = None
    provider: str | None = None
    xml: bool | None = None

    @property
    def wish(self) -> Wish:
        return Wish(self.dialect, self.provider, self.xml)


class Settings(BaseSettings):
    """The choices of one run. `dialect` is the one that counts; `provider` and `xml` are what was asked for."""

    model_config = SettingsConfigDict(env_prefix=ENV_PREFIX, extra="forbid", frozen=True)

    site: str = "demo"
    url: str | None = None
    dialect: str | None = None
    provider: str | None = None
    xml: bool | None = None
    multi: bool = False
    team: str | None = None
    teams: dict[str, Team] = {}
    system_prompt: str | None = None
    approve: Literal["ask", "edits", "auto", "none"] = "ask"
    mode: Literal["plan", "act"] = "act"
    max_iterations: int = Field(default=MAX_ITERATIONS, ge=1, le=1000)
    headless: bool = True
    on_malformed: Literal["correct", "text", "error"] = "correct"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, config_file())

    @property
    def choices(self) -> Choices:
        """What a session runs under."""
        given = {each.name: getattr(self, each.name) for each in fields(Choices) if each.name in Settings.model_fields}
        return Choices(**{**given, "dialect": self.dialect or DEFAULT_DIALECT, "team_xml": self._team().xml})

    def _team(self) -> Team:
        if self.team is None:
            return Team()
        if self.team not in self.teams:
            known = f"there is: {', '.join(sorted(self.teams))}" if self.teams else "it has no [teams.NAME]"
            raise UsageError(f"There is no team {self.team!r} in {config_file()}; {known}.")
        return self.teams[self.team]

    def decided(self, flags: Wish) -> Settings:
        """These settings with the `dialect` that counts: flags over team over configuration, but a team's `xml` over
        all (A8). Raises `UsageError` for an unknown team and for a wish that contradicts itself."""
        team = self._team()
        wishes = (
            flags.check(prefix="--"),
            team.wish.check(f"{config_file()}, [teams.{self.team}]: "),
            Wish(self.dialect, self.provider, self.xml).check(f"{config_file()} and {ENV_PREFIX}*: "),
        )
        return self.model_copy(update={"dialect": choose(*wishes, team_xml=team.xml) or DEFAULT_DIALECT})


def load_settings(**flags: Any) -> Settings:
    """Settings with `flags` on top; a flag that is None was not given.

    Raises `UsageError` that names the file, variable or flag, and the key, when a key is unknown or a value is wrong.
    """
    given = {name: value for name, value in flags.items() if value is not None}
    wish = Wish(*(given.pop(name, None) for name in ("dialect", "provider", "xml")))
    return _load(given).decided(wish)


def _load(given: dict[str, Any]) -> Settings:
    try:
        return Settings(**given)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{config_file()} is not valid TOML: {error}.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"Cannot read {config_file()}: {error}.") from error
    except ValidationError as error:
        raise UsageError(_sentence(error, given)) from error


def _sentence(error: ValidationError, flags: dict[str, Any]) -> str:
    first = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known = Team if first["loc"][0] == "teams" else Settings
        return f"{_origin(key, flags)}: unknown setting; known are {', '.join(known.model_fields)}."
    return f"{_origin(key, flags)}: {first['msg'][:1].lower()}{first['msg'][1:]}, not {first['input']!r}."


def _origin(key: str, flags: dict[str, Any]) -> str:
    if key in flags:
        return "--" + key.replace("_", "-")
    variable = next((name for name in os.environ if name.upper() == ENV_PREFIX + key.upper()), None)
    return variable or f"{config_file()}, key {key!r}"


def workspace_notice(workspace: Path) -> str | None:
    """One sentence when the workspace carries settings of its own: they came with the repository, so nobody obeys."""
    if not (workspace / ".tabferry").exists():
        return None
    return (
        f"Ignored: {workspace / '.tabferry'} came with the workspace and is not trusted "
        "(tabferry trust is not in this version)."
    )
