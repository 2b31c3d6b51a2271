"""The way to Neo4j: queries kept in files, one place that runs them, and the schema they rely on."""

from assomem.store.query import Parameter, Query, cypher_folder, load, names
from assomem.store.schema import gds_version, prepare, server_version
from assomem.store.store import Store, Transaction

__all__ = [
    "Parameter",
    "Query",
    "Store",
    "Transaction",
    "cypher_folder",
    "gds_version",
    "load",
    "names",
    "prepare",
    "server_version",
]
