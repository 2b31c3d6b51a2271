"""Every error this package raises on purpose.

    AssoMemError
    ├── InputError               something given to us cannot be used: says which field, why, what is allowed
    │   ├── UnknownMemory        no memory of that name; names the ones there are
    │   ├── TimezoneNeeded       a time without a zone, and none given to read it in
    │   └── UtteranceConflict    an utterance id that is already taken by another text
    ├── SettingsError            a setting is missing or out of range
    ├── QueryFileError           a .cypher file is missing, or its header and body disagree
    ├── QueryParameterError      a query was called with the wrong parameters
    ├── StoreError               Neo4j refused a query
    │   ├── StoreUnavailable     ... or could not be reached: trying again later may help
    │   ├── LoginRefused         ... or refused the user name or password
    │   └── SchemaMismatch       ... or its schema or version is not the one this package needs
    ├── EmbedderMismatch         the memory was built with another embedder
    ├── ServerError              the managed Neo4j could not be installed, started or stopped
    │   └── DownloadError        ... because a file could not be fetched or is not what the lock file says
    ├── ModelError               an embedder or a language model failed; `kind` says how
    ├── BudgetSpent              no further call to a language model: the budget of tokens is used up
    └── ClosedError              used after close

Finding no evidence is an ordinary outcome, so it is a value (`Answer.abstained`), not an error.
No message quotes what somebody said: ids, lengths, limits and positions only.
"""

from typing import Literal


class AssoMemError(Exception):
    """Base of every error above: catch this one to catch them all."""


class InputError(AssoMemError, ValueError):
    """Something given to us cannot be used. The message names the field, the reason and what is allowed."""


class UnknownMemory(InputError):  # noqa: N818  (reads as a state)
    """There is no memory of that name; the message names the ones there are."""


class TimezoneNeeded(InputError):  # noqa: N818
    """A time carries no zone and none was given to read it in."""


class UtteranceConflict(InputError):  # noqa: N818
    """An utterance id is already taken by another text; nothing was written."""


class SettingsError(AssoMemError):
    """A setting is missing or out of range. The message names the setting and its valid range."""


class QueryFileError(AssoMemError):
    """A .cypher file is missing, or its header and body disagree."""


class QueryParameterError(AssoMemError):
    """A query was called with parameters it does not take, or without ones it needs."""


class StoreError(AssoMemError):
    """Neo4j refused a query. `query` is the query's name, `cypher/<query>.cypher`."""

    def __init__(self, query: str, message: str) -> None:
        """Name the query in the message, so that a log line is enough to find the file."""
        super().__init__(f"{query}: {message}")
        self.query = query


class StoreUnavailable(StoreError):  # noqa: N818  (reads as a state, like the driver's own)
    """Neo4j could not be reached. Trying again later may help."""


class LoginRefused(StoreError):  # noqa: N818
    """Neo4j refused the user name or password."""


class SchemaMismatch(StoreError):  # noqa: N818
    """An index is missing or was built for other vectors, or the server is too old."""


class EmbedderMismatch(AssoMemError):  # noqa: N818
    """The memory was built with another embedder; the message names both and the way out."""


class ServerError(AssoMemError):
    """The managed Neo4j could not be installed, started or stopped."""


class DownloadError(ServerError):
    """A file could not be fetched, or its SHA-256 is not the one of the lock file."""


ModelFailure = Literal[
    "rate_limited",
    "timeout",
    "server_error",
    "unreachable",
    "key_refused",
    "not_found",
    "too_long",
    "refused",
    "not_a_completion",
    "empty",
    "cut_off",
    "filtered",
    "failed",
]
"""How a call to a model failed. `refused` is any other refusal of the endpoint, `failed` a model in this process."""


class ModelError(AssoMemError):
    """An embedder or a language model failed."""

    def __init__(
        self, message: str, *, kind: ModelFailure = "failed", tries: tuple[ModelFailure, ...] | None = None
    ) -> None:
        """Keep how it failed.

        Args:
            message: says why, without the key or anything of the prompt.
            kind: how the last try failed.
            tries: how each try failed; default: one, as `kind`.
        """
        super().__init__(message)
        self.kind: ModelFailure = kind
        self.tries: tuple[ModelFailure, ...] = (kind,) if tries is None else tries


class BudgetSpent(AssoMemError):  # noqa: N818  (reads as a state)
    """The budget of tokens is used up; the call was not made."""


class ClosedError(AssoMemError):
    """The object was used after `close()`."""
