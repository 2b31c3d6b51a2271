"""The database server: the one that the settings name, or a managed local Neo4j Community with OpenGDS.

The managed one is downloaded once (`assomem.downloads`), lives in `settings.home`, listens on 127.0.0.1 alone and
runs on, for any number of processes, until `down`.
"""

from assomem.server.address import Address
from assomem.server.lifecycle import Status, down, locate, logs, remove, status, up, versions

__all__ = ["Address", "Status", "down", "locate", "logs", "remove", "status", "up", "versions"]
