"""Neo4j Browser, in a real Chromium, on the managed server."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

from assomem import AssoMem, Settings
from assomem.importers import read
from assomem.sample import sample_folder
from assomem.server import Address
from assomem.store import load

DOCS = Path(__file__).parents[2] / "docs"
BUILD = Path(__file__).parents[2] / "build"
SECONDS = 1000
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture
def page() -> Iterator[Page]:
    """A page of the machine's Chromium."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.fail("no Chromium on this machine; on Debian: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser.new_page(viewport={"width": 1400, "height": 1100})
        browser.close()


@pytest.fixture
def sample(server: Address, settings: Settings, memory_name: str) -> Iterator[str]:
    """The sample memory, under a name of its own."""
    del server
    with AssoMem(memory_name, settings=settings) as memory, (sample_folder() / "memory.jsonl").open("rb") as stream:
        memory.remember(read(stream).sessions)
        yield memory_name
        memory.forget(everything=True)


def test_browser_signs_in_and_draws_clues_and_utterances(page: Page, server: Address, sample: str) -> None:
    _sign_in(page, server)

    _run(page, f":param memory => '{sample}'")
    page.wait_for_selector("[data-testid=rawParamData]", timeout=30 * SECONDS)
    _run(page, load("browser/clues_and_utterances").text)

    for label in ("Clue", "Utterance", "Session"):
        page.wait_for_selector(f"[data-testid=property-details-overview-node-label-{label}]", timeout=60 * SECONDS)
    page.wait_for_selector("svg g.node", timeout=30 * SECONDS)
    assert page.locator("svg g.node").count() >= 10
    BUILD.mkdir(exist_ok=True)
    page.screenshot(path=BUILD / "browser.png")


def test_analytics_run_as_they_lie_with_the_parameters_of_their_page(page: Page, server: Address, sample: str) -> None:
    _sign_in(page, server)
    block = re.findall(r"^    (:param .*)$", (DOCS / "analytics.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert "'default'" in block[0]
    _run(page, "\n".join([block[0].replace("default", sample), *block[1:]]))
    page.wait_for_timeout(5 * SECONDS)
    for name, shows in (("important_clues", "Mrs. Okafor"), ("longest_sessions", "13.31"), ("sessions_like", "s09")):
        _run(page, load(f"analytics/{name}").text)
        page.wait_for_selector(f"table td:has-text('{shows}')", timeout=60 * SECONDS)


def _sign_in(page: Page, server: Address) -> None:
    assert server.browser_url is not None
    page.goto(f"{server.browser_url}?dbms={server.uri.replace('://', f'://{server.username}@')}")
    page.fill("input[type=password]", server.password, timeout=60 * SECONDS)
    page.click("[data-testid=connect]")
    page.wait_for_selector("text=You are connected", timeout=60 * SECONDS)


def _run(page: Page, statement: str) -> None:
    """Type a statement into the editor and run it."""
    page.click("[data-testid=activeEditor]")
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(statement)
    page.keyboard.press("Control+Enter")
