"""What lies in the home, without a server."""

import json
import socket
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assomem.downloads import Jar
from assomem.errors import ServerError
from assomem.server import up
from assomem.server.home import Home, Ports, free_port
from assomem.settings import read_settings


@contextmanager
def silent_socket(port: int = 0) -> Generator[int]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", port))
        listening.listen()
        yield listening.getsockname()[1]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home.at(tmp_path / "home")
    home.make_folders()
    return home


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_only_the_user_can_read_the_home_and_the_password(home: Home) -> None:
    password = home.new_password()
    assert mode(home.folder) == mode(home.data) == mode(home.logs) == 0o700
    assert mode(home.password_file) == 0o600
    assert home.password() == password
    assert len(password) >= 32
    assert password.isalnum(), "a hyphen at its beginning would be taken for an option by Neo4j's admin program"
    assert home.new_password() != password


def test_a_folder_that_already_holds_something_keeps_its_permissions(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "note.txt").touch()
    home = Home.at(tmp_path)
    home.make_folders()
    assert (mode(tmp_path), mode(home.data)) == (0o755, 0o700)


def test_a_home_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ServerError, match="ASSOMEM_HOME"):
        Home.at(tmp_path / "file").make_folders()


def test_a_taken_port_is_left_to_who_has_it_and_another_is_remembered(home: Home) -> None:
    with silent_socket() as bolt, silent_socket() as http:
        home.ports_file.write_text(json.dumps({"bolt": bolt, "http": http}), encoding="utf-8")
        chosen = home.choose_ports()
        assert {chosen.bolt, chosen.http}.isdisjoint({bolt, http})
        assert home.ports() == chosen
    assert home.choose_ports() == chosen


def test_remembered_ports_are_used_again(home: Home) -> None:
    ports = Ports(free_port(), free_port())
    home.ports_file.write_text(json.dumps({"bolt": ports.bolt, "http": ports.http}), encoding="utf-8")
    assert home.choose_ports() == ports


@pytest.mark.parametrize("text", ["", "{", "[]", '{"bolt": 1}', '{"bolt": "x", "http": 2}'])
def test_damaged_ports_are_chosen_anew_with_a_warning(home: Home, text: str, caplog: pytest.LogCaptureFixture) -> None:
    home.ports_file.write_text(text, encoding="utf-8")
    chosen = home.choose_ports()
    assert home.ports() == chosen
    assert "damaged" in caplog.text


def test_the_configuration_names_loopback_addresses_alone(home: Home) -> None:
    home.write_conf(Ports(17, 18))
    lines = (home.conf / "neo4j.conf").read_text(encoding="utf-8").splitlines()
    addresses = [line for line in lines if "address=" in line]
    assert len(addresses) == 5
    assert all(line.partition("=")[2].startswith("127.0.0.1") for line in addresses)


def test_the_home_holds_exactly_the_jars_of_the_lock_file_and_those_of_the_user(home: Home, tmp_path: Path) -> None:
    def jar(name: str) -> tuple[Jar, Path]:
        made = Jar("plugins", f"org.example:{name}:1", "0" * 64, 1)
        path = tmp_path / made.file_name
        path.write_text(name, encoding="utf-8")
        return made, path

    old, kept, new = jar("old"), jar("kept"), jar("new")
    home.link_jars(dict([old, kept]))
    users = home.folder / "plugins" / "users.jar"
    users.touch()
    home.link_jars(dict([kept, new]))
    names = sorted(path.name for path in (home.folder / "plugins").iterdir())
    assert names == ["org.example.kept-1.jar", "org.example.new-1.jar", "users.jar"]
    assert home.foreign_jars() == ["plugins/users.jar"]
    assert (home.folder / "plugins" / "org.example.kept-1.jar").samefile(kept[1])  # not twice on the disk

    replaced = kept[1].with_suffix(".new")
    replaced.write_text("good", encoding="utf-8")
    replaced.replace(kept[1])
    home.link_jars(dict([kept, new]))
    assert (home.folder / "plugins" / "org.example.kept-1.jar").read_text(encoding="utf-8") == "good"


def test_removal_deletes_what_we_made_and_nothing_else(home: Home, tmp_path: Path) -> None:
    made = Jar("lib", "org.example:a:1", "0" * 64, 1)
    (tmp_path / made.file_name).touch()
    home.link_jars({made: tmp_path / made.file_name})
    home.new_password()
    home.choose_ports()
    home.write_conf(Ports(17, 18))
    (home.data / "databases").mkdir()
    mine = [home.folder / "import" / "mine.csv", home.folder / "cache" / "a.jar", home.folder / "mine.txt"]
    for path in mine:
        path.parent.mkdir(exist_ok=True)
        path.touch()
    with home.locked():
        home.remove()
    left = sorted(path for path in home.folder.rglob("*") if path.is_file())
    assert left == sorted([*mine, home.folder / ".lock"])
    assert (tmp_path / made.file_name).exists()


def test_a_home_inside_a_file_is_named_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(ServerError, match="ASSOMEM_HOME"):
        up(read_settings(home=tmp_path / "file" / "home", cache=tmp_path))
