"""Which server is meant: the one that the settings name, else the managed one."""

import subprocess
import sys
from pathlib import Path

import pytest

import assomem
from assomem import server
from assomem.errors import ServerError, SettingsError
from assomem.settings import read_settings

AURA = """# Wait 60 seconds before connecting using these details
NEO4J_URI=neo4j+s://0a1b2c3d.databases.example.org
NEO4J_USERNAME=0a1b2c3d
NEO4J_PASSWORD="a=b#c"
NEO4J_DATABASE=0a1b2c3d
AURA_INSTANCEID=0a1b2c3d
"""


def test_an_address_in_the_settings_is_used_and_nothing_is_started(tmp_path: Path) -> None:
    settings = read_settings(
        home=tmp_path, neo4j_uri="bolt://db.example.org", neo4j_password="secret-1", neo4j_database="notes"
    )
    address = server.locate(settings)
    assert address == server.Address("bolt://db.example.org", "neo4j", "secret-1", "notes", None, managed=False)
    status = server.status(settings)
    assert (status.managed, status.running, status.uri, status.pid) == (
        False,
        None,
        "bolt://db.example.org",
        None,
    )
    assert not any(tmp_path.iterdir())
    with pytest.raises(ServerError, match="not started by this program"):
        server.logs(settings)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_credentials_file_as_aura_gives_it_is_read(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "credentials.txt"
    file.write_text(AURA, encoding=encoding)
    address = server.locate(read_settings(home=tmp_path, neo4j_file=file))
    assert address.uri == "neo4j+s://0a1b2c3d.databases.example.org"
    assert (address.username, address.password, address.database) == ("0a1b2c3d", "a=b#c", "0a1b2c3d")
    assert not address.managed


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (AURA.replace("NEO4J_PASSWORD", "PASSWORD"), "NEO4J_PASSWORD"),
        (AURA.replace("NEO4J_URI", "URI"), "NEO4J_URI"),
        (AURA.replace("neo4j+s://", "https://"), "bolt://"),
        ("", "NEO4J_URI"),
    ],
)
def test_a_credentials_file_that_lacks_something_is_refused_without_its_secrets(
    tmp_path: Path, text: str, says: str
) -> None:
    file = tmp_path / "credentials.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=says) as refused:
        server.locate(read_settings(home=tmp_path, neo4j_file=file))
    assert "a=b#c" not in str(refused.value)


def test_a_credentials_file_that_is_not_there_or_not_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"nowhere\.txt"):
        server.locate(read_settings(home=tmp_path, neo4j_file=tmp_path / "nowhere.txt"))
    (tmp_path / "image").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(SettingsError, match="not text"):
        server.locate(read_settings(home=tmp_path, neo4j_file=tmp_path / "image"))


def test_two_addresses_at_once_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="unset one"):
        server.locate(read_settings(home=tmp_path, neo4j_uri="bolt://a", neo4j_file=tmp_path / "b"))


def test_a_printed_address_hides_the_password() -> None:
    assert "secret-1" not in repr(server.Address("bolt://a", "neo4j", "secret-1", "neo4j", None, managed=False))


def test_importing_the_server_module_loads_no_driver_and_no_downloader() -> None:
    script = (
        "import sys, assomem.server\n"
        "sys.exit(','.join({'neo4j', 'jgo', 'psutil', 'pydantic', 'filelock', 'rich'} & set(sys.modules)) or None)"
    )
    folder = Path(next(iter(assomem.__path__))).parent
    done = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
