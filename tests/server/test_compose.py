"""docker/compose.yaml gives the same server as the managed one."""

from pathlib import Path
from typing import Any

import yaml

from assomem.server import versions
from assomem.server.home import FIXED_SETTINGS

COMPOSE = Path(__file__).parents[2] / "docker" / "compose.yaml"


def service() -> dict[str, Any]:
    return yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]["neo4j"]


def setting_name(variable: str) -> str:
    """The setting that the image makes of a variable: one underscore is a dot, two are one."""
    return variable.removeprefix("NEO4J_").replace("__", "\0").replace("_", ".").replace("\0", "_")


def test_the_image_is_the_version_of_the_lock_file() -> None:
    assert service()["image"] == f"neo4j:{versions()[0]}-community"


def test_the_comment_names_the_release_of_the_graph_algorithms_in_the_lock_file() -> None:
    assert f"GDS {versions()[1].rpartition('.')[0]} for" in COMPOSE.read_text(encoding="utf-8")


def test_every_setting_of_the_managed_server_is_set_to_the_same_value() -> None:
    given = {setting_name(name): value for name, value in service()["environment"].items()}
    assert {name: given.get(name) for name in FIXED_SETTINGS} == dict(FIXED_SETTINGS)


def test_it_listens_on_this_machine_alone_and_wants_a_password() -> None:
    assert service()["ports"] == ["127.0.0.1:7687:7687", "127.0.0.1:7474:7474"]
    assert service()["environment"]["NEO4J_AUTH"].startswith("neo4j/${ASSOMEM_NEO4J_PASSWORD:?")


def test_healthy_means_that_the_graph_algorithms_answer() -> None:
    assert "gds.version()" in service()["healthcheck"]["test"][1]
