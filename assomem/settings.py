"""Every setting, with its unit, range and reason. The only module that reads the environment."""

from pathlib import Path
from typing import Literal, Self

import platformdirs
from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from assomem.errors import SettingsError


class Settings(BaseSettings):
    """What a user may change. Each field is read from `ASSOMEM_<NAME>` or a `.env` in the working folder.

    Arguments win over the environment, the environment over `.env`. Secrets are masked when printed.
    Build it with `read_settings`, which reports a wrong value as a `SettingsError`.
    """

    model_config = SettingsConfigDict(
        env_prefix="ASSOMEM_",
        env_file=".env",
        env_file_encoding="utf-8",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
        populate_by_name=True,
    )

    # -- where things lie
    home: Path = Field(default_factory=lambda: Path(platformdirs.user_data_dir("assomem", appauthor=False)))
    """Folder of the managed server: configuration, data, password, logs."""

    cache: Path = Field(default_factory=lambda: Path())
    """Folder of verified downloads (server jars, the packaged embedder). Default: the platform's cache folder,
    or `<home>/cache` when only the home is set."""

    # -- the database
    neo4j_uri: str | None = None
    """`bolt://`, `neo4j://`, or with `+s` / `+ssc`. Set: that server is used and nothing is started."""

    neo4j_username: str = "neo4j"
    neo4j_password: SecretStr = SecretStr("")
    neo4j_database: str = "neo4j"

    neo4j_file: Path | None = None
    """A credentials file as Aura offers it for download; its values fill the four fields above."""

    java: Path | None = None
    """A `java` program of version 25 or newer for the managed server. Default: the packaged one."""

    query_timeout_seconds: float = Field(default=60.0, gt=0, le=3600)
    """After this many seconds Neo4j gives a query up."""

    # -- models
    embedder: str = "e5-small-v2"
    """Name of the embedder: `e5-small-v2` (default, packaged), `bge-small-en-v1.5` (packaged); `openai:NAME` at an
    OpenAI-compatible endpoint; a folder, a name on the Hugging Face hub (`BAAI/bge-large-en-v1.5`), or
    `sentence-transformers:NAME`; `PROVIDER:NAME` by LangChain, such as `ollama:nomic-embed-text`."""

    embedder_question_prefix: str | None = None
    embedder_text_prefix: str | None = None
    """What an embedder that is not packaged wants before a question and before any other text, such as `query: ` and
    `passage: `. None: as the model's family needs it (E5, Nomic), or as the model itself says."""

    delta: float | None = Field(default=None, gt=0, le=1)
    """Clues of one kind whose cosine is at least this are one. None: as measured for the embedder."""

    gamma: float | None = Field(default=None, gt=-1, le=1)
    """Utterances, or clues, whose cosine is at least this are SIMILAR. None: as measured for the embedder."""

    chat_model: str | None = None
    """Name of the language model: `openai:NAME` or just `NAME` at an OpenAI-compatible endpoint, `PROVIDER:NAME` by
    LangChain, such as `anthropic:claude-sonnet-4-5`. A colon after anything but a provider's name is part of the
    model's (`qwen2.5:3b`). None: extractive answers."""

    openai_api_key: SecretStr | None = Field(
        default=None, validation_alias=AliasChoices("openai_api_key", "OPENAI_API_KEY")
    )
    openai_base_url: str | None = Field(
        default=None, validation_alias=AliasChoices("openai_base_url", "OPENAI_BASE_URL")
    )
    chat_timeout_seconds: float = Field(default=60.0, gt=0, le=3600)
    """After this many seconds a call to the language model is given up."""

    chat_sends_finish_reason: bool = True
    """False for an endpoint that never says why an answer ended; otherwise an answer without a reason counts as cut
    off."""

    openai_organization: str | None = Field(
        default=None, validation_alias=AliasChoices("openai_organization", "OPENAI_ORG_ID", "OPENAI_ORGANIZATION")
    )
    """Organisation that the calls are billed to, where a key belongs to several."""

    openai_api_version: str | None = Field(
        default=None, validation_alias=AliasChoices("openai_api_version", "OPENAI_API_VERSION")
    )
    """Set: OPENAI_BASE_URL is an Azure OpenAI resource (https://NAME.openai.azure.com) of this API version, and models
    are the names of its deployments."""

    model_concurrency: int = Field(default=4, ge=1, le=64)
    """So many calls at most run at the same time at one endpoint, over all threads of a process."""

    max_wait_seconds: float = Field(default=120.0, ge=0, le=3600)
    """A call that would have to wait longer than this, because the endpoint asked to be left alone, fails at once."""

    response_cache: bool = True
    """Keep whole replies of the language model in `<home>/models.sqlite3`, so that the same question to it costs
    nothing a second time. Forgetting anything of a memory deletes its replies."""

    price_input_per_million: float | None = Field(default=None, ge=0)
    price_output_per_million: float | None = Field(default=None, ge=0)
    """What a million tokens cost, read and written, in whatever currency: `assomem status --usage` then shows costs."""

    # -- reading and storing
    timezone: str | None = None
    """IANA name (`Europe/Berlin`) in which times without a zone are read. None: such times are refused."""

    max_text_characters: int = Field(default=262_144, ge=1, le=10_000_000)
    """A longer utterance is refused by name: Neo4j would store it, but a prompt could never hold it."""

    max_question_characters: int = Field(default=100_000, ge=1, le=1_000_000)
    """A longer question is refused."""

    # -- clues
    extraction_tokens: int = Field(default=3000, ge=200, le=1_000_000)
    """So much of a session a language model is shown at once to find its clues, in tokens (about four characters
    each). Longer sessions are read in parts; smaller parts suit small models."""

    # -- retrieval
    preset: Literal["default", "paper"] = "default"
    weights: Path | None = None
    """A weights file in place of the shipped one."""

    search_seconds: float = Field(default=30.0, gt=0, le=3600)
    """A search that has taken so long leaves out what it can do without (late interaction, importance) and says so.
    Starting or reaching the server is not counted."""

    hops: int = Field(default=1, ge=1, le=3)
    """Searches at most for one answer: after each the language model may name what to look for next."""

    answer_tokens: int = Field(default=800, ge=16, le=100_000)
    """Room for an answer; one that is cut off is asked for once more with four times as much."""

    evidence_tokens: int = Field(default=3000, ge=100, le=1_000_000)
    """Budget of evidence in a prompt, in tokens (about four characters each)."""

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, name: str | None) -> str | None:
        if name is not None:
            from zoneinfo import ZoneInfo

            try:
                ZoneInfo(name)
            except (KeyError, OSError, ValueError) as error:  # KeyError: not found
                raise ValueError("not an IANA time zone name such as Europe/Berlin or UTC") from error
        return name

    @field_validator("openai_api_key")
    @classmethod
    def _sendable(cls, key: SecretStr | None) -> SecretStr | None:
        if key is not None and not (key.get_secret_value().isascii() and key.get_secret_value().isprintable()):
            raise ValueError("holds a character that no key has: a line break, or one beyond ASCII")
        return key

    @field_validator("neo4j_uri")
    @classmethod
    def _known_scheme(cls, uri: str | None) -> str | None:
        if uri is not None and not uri.startswith(
            ("bolt://", "bolt+s://", "bolt+ssc://", "neo4j://", "neo4j+s://", "neo4j+ssc://")
        ):
            raise ValueError("must begin with bolt://, neo4j://, or one of them with +s or +ssc")
        return uri

    @field_validator("home", "cache", "neo4j_file", "java", "weights")
    @classmethod
    def _expanded(cls, path: Path | None) -> Path | None:
        return None if path is None else path.expanduser()

    @model_validator(mode="after")
    def _fill_cache(self) -> Self:
        if "cache" not in self.model_fields_set:
            default = (
                self.home / "cache"
                if "home" in self.model_fields_set
                else Path(platformdirs.user_cache_dir("assomem", appauthor=False))
            )
            object.__setattr__(self, "cache", default)
        return self


def read_settings(**given: object) -> Settings:
    """Settings from arguments, environment and `.env`, checked.

    Raises:
        SettingsError: names every wrong field and what is allowed; never shows the value.
    """
    unknown = sorted(given.keys() - Settings.model_fields.keys())
    if unknown:
        raise SettingsError(
            f"settings: there is none called {', '.join(unknown)}; there are {', '.join(sorted(Settings.model_fields))}"
        )
    try:
        return Settings(**given)  # pyright: ignore[reportArgumentType]
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}" for problem in error.errors()
        )
        raise SettingsError(f"settings: {wrong}. Set them by argument, ASSOMEM_<NAME>, or .env") from None
    except UnicodeDecodeError:
        raise SettingsError("settings: the file .env in the working folder is not text in UTF-8; save it so") from None
