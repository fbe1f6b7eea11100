"""What the user chose: defaults < `config.toml` < `TABFERRY_*` < flags. A workspace never chooses anything here."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from bridge.agent.limits import MAX_ITERATIONS
from bridge.errors import UsageError

ENV_PREFIX = "TABFERRY_"


def config_file() -> Path:
    """`config.toml` in `TABFERRY_CONFIG_DIR`, else in the user's configuration directory; it need not exist."""
    chosen = os.environ.get("TABFERRY_CONFIG_DIR")
    return Path(chosen or platformdirs.user_config_dir("tabferry")) / "config.toml"


class Settings(BaseSettings):
    """The choices of one run."""

    model_config = SettingsConfigDict(env_prefix=ENV_PREFIX, extra="forbid", frozen=True)

    site: str = "demo"
    url: str | None = None
    dialect: str = "tool_call"
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


def load_settings(**flags: Any) -> Settings:
    """Settings with `flags` on top; a flag that is None was not given.

    Raises `UsageError` that names the file, variable or flag, and the key, when a key is unknown or a value is wrong.
    """
    given = {name: value for name, value in flags.items() if value is not None}
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
        return f"{_origin(key, flags)}: unknown setting; known are {', '.join(Settings.model_fields)}."
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
