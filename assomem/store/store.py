"""Runs queries against one Neo4j database and turns the driver's errors into ours."""

import logging
import os
import re
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import neo4j
from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)

from assomem.errors import AssoMemError, ClosedError, LoginRefused, StoreError, StoreUnavailable
from assomem.store.query import Query

T = TypeVar("T")


class Transaction:
    """One transaction in which several queries succeed or fail together."""

    def __init__(self, transaction: neo4j.ManagedTransaction) -> None:
        """Wrap the driver's transaction."""
        self._transaction = transaction

    def run(self, query: Query, **parameters: Any) -> list[neo4j.Record]:
        """Run one query and return all its rows."""
        query.check(parameters)
        try:
            return list(self._transaction.run(query.text, parameters))
        except Neo4jError as error:
            if error.is_retryable():
                raise  # the driver runs the whole transaction again
            raise StoreError(query.name, _says(error)) from None


class Store:
    """One Neo4j database. Opens its driver on first use and again after a fork; `close` ends it."""

    def __init__(self, uri: str, *, username: str, password: str, database: str, timeout_seconds: float = 60.0) -> None:
        """Keep the address; nothing is sent yet.

        Args:
            uri: `bolt://` or `neo4j://`, also with `+s` or `+ssc`.
            username: the user to log in as.
            password: its password; empty for a server without authentication.
            database: the database's name.
            timeout_seconds: after this long Neo4j gives a query up, above 0.
        """
        self.uri = uri
        self.database = database
        self._auth = (username, password) if password else None
        self._timeout_seconds = timeout_seconds
        self._lock = threading.Lock()
        self._driver: neo4j.Driver | None = None
        self._process_id = 0
        self._closed = False
        self._refused: LoginRefused | None = None

    def read(self, query: Query, **parameters: Any) -> list[neo4j.Record]:
        """Run a query that changes nothing.

        Raises:
            QueryParameterError: the parameters are not the query's.
            StoreUnavailable: Neo4j could not be reached.
            LoginRefused: wrong user name or password.
            StoreError: Neo4j refused the query.
            ClosedError: the store was closed.
        """
        return self._run(query, parameters, neo4j.RoutingControl.READ)

    def write(self, query: Query, **parameters: Any) -> list[neo4j.Record]:
        """Run a query that changes the graph, in a transaction of its own. Raises as `read` does."""
        return self._run(query, parameters, neo4j.RoutingControl.WRITE)

    def transaction(self, work: Callable[[Transaction], T]) -> T:
        """Run `work` in one transaction: all of it happens, or nothing.

        Neo4j may ask for another try (a deadlock, a leader change); then `work` runs again from its start, so it
        must not change anything outside the transaction. Raises as `read` does, and what `work` raises.
        """

        def unit(managed: neo4j.ManagedTransaction) -> T:
            return work(Transaction(managed))

        try:
            with self._open().session(database=self.database) as session:
                return session.execute_write(neo4j.unit_of_work(timeout=self._timeout_seconds)(unit))
        except AssoMemError:
            raise
        except (Neo4jError, DriverError) as error:
            raise self._translated("transaction", error) from _harmless(error)

    def run_alone(self, query: Query) -> None:
        """Run a statement that must have a transaction of its own, such as a schema command."""
        try:
            with self._open().session(database=self.database) as session:
                session.run(query.text).consume()
        except (Neo4jError, DriverError) as error:
            raise self._translated(query.name, error) from _harmless(error)

    def close(self) -> None:
        """Close the connections; a second time does nothing."""
        with self._lock:
            self._closed = True
            driver, self._driver = self._driver, None
        if driver is not None and self._process_id == os.getpid():
            driver.close()

    def _run(self, query: Query, parameters: dict[str, Any], routing: neo4j.RoutingControl) -> list[neo4j.Record]:
        query.check(parameters)
        # The name shows up in SHOW TRANSACTIONS and in Neo4j's query log.
        named = neo4j.Query(query.text, metadata={"assomem": query.name}, timeout=self._timeout_seconds)
        try:
            return self._open().execute_query(named, parameters, routing_=routing, database_=self.database).records
        except (Neo4jError, DriverError) as error:
            raise self._translated(query.name, error) from _harmless(error)

    def _open(self) -> neo4j.Driver:
        with self._lock:
            if self._closed:
                raise ClosedError("this memory was closed; open a new one")
            if self._refused is not None:
                # Neo4j locks an account after a few wrong passwords: one try is enough.
                raise self._refused
            if self._driver is None or self._process_id != os.getpid():
                # Connections do not survive a fork: two processes would read each other's answers.
                self._process_id = os.getpid()
                # The driver tells of tries that it repeats; without a handler Python would print that on stderr. Who
                # wants it adds a handler of their own.
                driver_log = logging.getLogger("neo4j")
                if not driver_log.handlers:
                    driver_log.addHandler(logging.NullHandler())
                try:
                    self._driver = neo4j.GraphDatabase.driver(
                        self.uri,
                        auth=self._auth,
                        connection_timeout=5.0,
                        connection_acquisition_timeout=20.0,
                        max_transaction_retry_time=20.0,
                        liveness_check_timeout=1.0,
                        # Shipped queries are checked for notices by the tests; a user's log stays quiet.
                        notifications_min_severity="OFF",
                        user_agent="assomem",
                        telemetry_disabled=True,
                    )
                except (ConfigurationError, ValueError) as error:
                    raise StoreUnavailable("connect", f"{self.uri}: {error}") from error
                try:
                    self._driver.verify_connectivity()
                except (Neo4jError, DriverError, OSError) as error:
                    self._driver.close()
                    self._driver = None
                    raise self._translated("connect", error) from error
            return self._driver

    def _translated(self, name: str, error: Exception) -> StoreError:
        if isinstance(error, AuthError):
            self._refused = LoginRefused(
                name,
                f"Neo4j at {self.uri} refused the user name or password. Check ASSOMEM_NEO4J_USERNAME and "
                "ASSOMEM_NEO4J_PASSWORD; a data folder that already exists keeps the password it was made with",
            )
            return self._refused
        if isinstance(error, (ServiceUnavailable, SessionExpired, OSError)):
            hint = "Is the server running, and are host and port right?"
            if self.uri.startswith("neo4j"):
                hint += (
                    f" The scheme {self.uri.split('://')[0]}:// asks the server for the addresses of its cluster and "
                    f"connects to those; for a single server try {self.uri.replace('neo4j', 'bolt', 1)}"
                )
            return StoreUnavailable(name, f"Neo4j at {self.uri} could not be reached: {_says(error)}. {hint}")
        return StoreError(name, _says(error))


def _harmless(error: Exception) -> Exception | None:
    """The error as the cause of ours, unless the server wrote it: it may quote a parameter, and tracebacks show it."""
    return None if isinstance(error, Neo4jError) else error


def _says(error: Exception) -> str:
    """What Neo4j says, in one line, without values: an error text may quote a parameter, and with it a person."""
    code = getattr(error, "code", None)
    text = str(getattr(error, "message", None) or error) or type(error).__name__
    # Values stand in double quotes, names of ours in single ones; a value may hold quotes and line ends itself.
    text = re.sub(r'".*"|".*', '"…"', text, flags=re.DOTALL).splitlines()[0]
    if code is not None and str(code).startswith("Neo.ClientError.Schema.ConstraintValidation"):
        return f"{code}: a uniqueness rule of the schema was violated"
    return (
        f"{code}: {text[:300]}" if code is not None else re.sub(r" \(resolved to .*?\):?", "", text)[:300].rstrip(":")
    )
