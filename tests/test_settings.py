"""Settings: where they come from, which source wins, and what a wrong one says."""

import os
from pathlib import Path

import pytest

from assomem.errors import SettingsError
from assomem.settings import Settings, read_settings


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, and nothing in the environment that names a setting."""
    for name in list(os.environ):
        if name.upper().startswith(("ASSOMEM_", "OPENAI_", "NEO4J_")):
            monkeypatch.delenv(name)
    place = tmp_path / "work"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


def test_without_anything_set_there_are_defaults() -> None:
    settings = read_settings()
    assert settings.neo4j_uri is None
    assert settings.timezone is None
    assert settings.embedder == "e5-small-v2"
    assert settings.preset == "default"
    assert settings.openai_api_key is None
    assert settings.home.is_absolute()
    assert settings.cache.is_absolute()
    assert settings.cache != settings.home / "cache"


ENVIRONMENT = [
    ("ASSOMEM_HOME", "home", "/some/where", Path("/some/where")),
    ("ASSOMEM_CACHE", "cache", "/else/where", Path("/else/where")),
    ("ASSOMEM_NEO4J_URI", "neo4j_uri", "neo4j+s://graph.example:7687", "neo4j+s://graph.example:7687"),
    ("ASSOMEM_NEO4J_USERNAME", "neo4j_username", "ann", "ann"),
    ("ASSOMEM_NEO4J_DATABASE", "neo4j_database", "talk", "talk"),
    ("ASSOMEM_NEO4J_FILE", "neo4j_file", "aura.txt", Path("aura.txt")),
    ("ASSOMEM_JAVA", "java", "/opt/java", Path("/opt/java")),
    ("ASSOMEM_QUERY_TIMEOUT_SECONDS", "query_timeout_seconds", "2.5", 2.5),
    ("ASSOMEM_EMBEDDER", "embedder", "bge-small-en-v1.5", "bge-small-en-v1.5"),
    ("ASSOMEM_CHAT_MODEL", "chat_model", "small", "small"),
    ("ASSOMEM_CHAT_TIMEOUT_SECONDS", "chat_timeout_seconds", "9", 9.0),
    ("ASSOMEM_CHAT_SENDS_FINISH_REASON", "chat_sends_finish_reason", "false", False),
    ("ASSOMEM_MODEL_CONCURRENCY", "model_concurrency", "2", 2),
    ("ASSOMEM_MAX_WAIT_SECONDS", "max_wait_seconds", "30", 30.0),
    ("ASSOMEM_EMBEDDER_QUESTION_PREFIX", "embedder_question_prefix", "query:", "query:"),
    ("ASSOMEM_EMBEDDER_TEXT_PREFIX", "embedder_text_prefix", "passage:", "passage:"),
    ("ASSOMEM_DELTA", "delta", "0.9", 0.9),
    ("ASSOMEM_GAMMA", "gamma", "0.8", 0.8),
    ("ASSOMEM_RESPONSE_CACHE", "response_cache", "false", False),
    ("ASSOMEM_PRICE_INPUT_PER_MILLION", "price_input_per_million", "0.25", 0.25),
    ("ASSOMEM_PRICE_OUTPUT_PER_MILLION", "price_output_per_million", "2", 2.0),
    ("OPENAI_ORG_ID", "openai_organization", "org-1", "org-1"),
    ("OPENAI_API_VERSION", "openai_api_version", "2024-10-21", "2024-10-21"),
    ("OPENAI_BASE_URL", "openai_base_url", "http://localhost:1/v1", "http://localhost:1/v1"),
    ("ASSOMEM_TIMEZONE", "timezone", "Asia/Kathmandu", "Asia/Kathmandu"),
    ("ASSOMEM_MAX_TEXT_CHARACTERS", "max_text_characters", "1000", 1000),
    ("ASSOMEM_MAX_QUESTION_CHARACTERS", "max_question_characters", "10", 10),
    ("ASSOMEM_PRESET", "preset", "paper", "paper"),
    ("ASSOMEM_WEIGHTS", "weights", "mine.json", Path("mine.json")),
    ("ASSOMEM_ANSWER_TOKENS", "answer_tokens", "500", 500),
    ("ASSOMEM_HOPS", "hops", "2", 2),
    ("ASSOMEM_SEARCH_SECONDS", "search_seconds", "5", 5.0),
    ("ASSOMEM_EVIDENCE_TOKENS", "evidence_tokens", "500", 500),
    ("ASSOMEM_EXTRACTION_TOKENS", "extraction_tokens", "700", 700),
]
SECRETS = [
    ("ASSOMEM_NEO4J_PASSWORD", "neo4j_password"),
    ("OPENAI_API_KEY", "openai_api_key"),
]


def secret(settings: Settings, field: str) -> str:
    return getattr(settings, field).get_secret_value()


@pytest.mark.parametrize(("name", "field", "given", "kept"), ENVIRONMENT)
def test_every_setting_is_read_from_the_environment_and_from_dotenv(
    name: str, field: str, given: str, kept: object, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / ".env").write_text(f"# mine\n{name}={given}\n", encoding="utf-8")
    assert getattr(read_settings(), field) == kept
    (folder / ".env").unlink()
    monkeypatch.setenv(name, given)
    assert getattr(read_settings(), field) == kept


@pytest.mark.parametrize(("name", "field"), SECRETS)
def test_every_secret_is_read_and_never_shown(
    name: str, field: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / ".env").write_text(f"{name}=CANARY\n", encoding="utf-8")
    assert secret(read_settings(), field) == "CANARY"
    (folder / ".env").unlink()
    monkeypatch.setenv(name, "CANARY")
    for settings in (read_settings(), read_settings(**{field: "CANARY"})):
        assert secret(settings, field) == "CANARY"
        for shown in (repr(settings), str(settings), settings.model_dump_json()):
            assert "CANARY" not in shown


def test_every_field_can_be_named_in_the_environment() -> None:
    assert {field for _, field, *_ in ENVIRONMENT} | {field for _, field in SECRETS} == set(Settings.model_fields)


def test_arguments_win_over_the_environment_and_the_environment_over_dotenv(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / ".env").write_text(
        "ASSOMEM_CHAT_MODEL=dotenv\nASSOMEM_EMBEDDER=dotenv\nOPENAI_BASE_URL=http://dotenv\n", encoding="utf-8"
    )
    monkeypatch.setenv("ASSOMEM_CHAT_MODEL", "environment")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://environment")
    read = read_settings()
    assert (read.chat_model, read.embedder, read.openai_base_url) == ("environment", "dotenv", "http://environment")
    given = read_settings(chat_model="argument", openai_base_url="http://argument")
    assert (given.chat_model, given.openai_base_url) == ("argument", "http://argument")


def test_the_variables_of_other_programs_are_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("NEO4J_URI", "bolt://elsewhere:7687"), ("NEO4J_PASSWORD", "theirs"), ("HOME_", "/x")):
        monkeypatch.setenv(name, value)
    (folder / ".env").write_text("NEO4J_URI=bolt://elsewhere:7687\nTIMEZONE=Mars\n", encoding="utf-8")
    settings = read_settings()
    assert settings.neo4j_uri is None
    assert secret(settings, "neo4j_password") == ""
    assert settings.timezone is None


def test_an_empty_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ASSOMEM_NEO4J_URI", "ASSOMEM_TIMEZONE", "ASSOMEM_PRESET", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "")
    assert read_settings() == read_settings(neo4j_uri=None)
    assert read_settings().preset == "default"


def test_the_home_alone_takes_the_cache_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_settings(home=tmp_path).cache == tmp_path / "cache"
    monkeypatch.setenv("ASSOMEM_HOME", str(tmp_path))
    assert read_settings().cache == tmp_path / "cache"
    monkeypatch.setenv("ASSOMEM_CACHE", str(tmp_path / "other"))
    assert read_settings().cache == tmp_path / "other"


@pytest.mark.parametrize(
    ("field", "wrong", "allowed"),
    [
        ("neo4j_uri", "http://CANARY", "bolt://"),
        ("neo4j_uri", "CANARY:7687", "bolt://"),
        ("timezone", "CANARY/CANARY", "Europe/Berlin"),
        ("timezone", "Europe", "Europe/Berlin"),
        ("timezone", "/etc/CANARY", "Europe/Berlin"),
        ("timezone", "", "Europe/Berlin"),
        ("query_timeout_seconds", "CANARY", "valid number"),
        ("query_timeout_seconds", 0, "greater than 0"),
        ("query_timeout_seconds", "nan", "query_timeout_seconds"),
        ("query_timeout_seconds", "inf", "3600"),
        ("chat_timeout_seconds", 3601, "3600"),
        ("max_text_characters", 0, "greater than or equal to 1"),
        ("max_text_characters", "1.5", "integer"),
        ("max_question_characters", 10**7, "1000000"),
        ("evidence_tokens", 99, "greater than or equal to 100"),
        ("preset", "CANARY", "'default' or 'paper'"),
    ],
)
def test_a_wrong_value_is_refused_by_field_and_range_and_never_shown(field: str, wrong: object, allowed: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings(**{field: wrong})
    says = str(caught.value)
    for part in (field, allowed, "ASSOMEM_<NAME>"):
        assert part in says
    assert "CANARY" not in says


def test_every_wrong_value_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSOMEM_PRESET", "CANARY")
    with pytest.raises(SettingsError, match=r"evidence_tokens.*preset|preset.*evidence_tokens") as caught:
        read_settings(evidence_tokens=1)
    assert "CANARY" not in str(caught.value)


def test_an_argument_that_is_no_setting_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(SettingsError, match=r"time_zone.*timezone"):
        read_settings(time_zone="UTC")


def test_a_dotenv_that_is_no_text_is_refused_as_a_setting(folder: Path) -> None:
    (folder / ".env").write_bytes(b"ASSOMEM_CHAT_MODEL=\xff\xfe\n")
    with pytest.raises(SettingsError, match=r"\.env.*UTF-8"):
        read_settings()


def test_settings_cannot_be_changed() -> None:
    settings = read_settings()
    with pytest.raises(ValueError, match="frozen"):
        settings.preset = "paper"


@pytest.mark.parametrize("scheme", ["bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"])
def test_every_scheme_of_the_driver_is_allowed(scheme: str) -> None:
    assert read_settings(neo4j_uri=f"{scheme}://graph:7687").neo4j_uri == f"{scheme}://graph:7687"


def test_the_settings_themselves_hide_a_wrong_value_too() -> None:
    with pytest.raises(ValueError, match="preset") as caught:
        Settings.model_validate({"preset": "CANARY"})
    assert "CANARY" not in str(caught.value)
