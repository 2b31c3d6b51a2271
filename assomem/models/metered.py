"""A language model whose calls are counted, kept for the next time, and stopped when a budget is used up."""

import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from assomem.errors import BudgetSpent, ModelError
from assomem.models.chat import ChatModel, Completion
from assomem.models.usage import Call, Ledger, Purpose, ReplyCache, usage_file
from assomem.settings import Settings


class Budget:
    """Tokens that may be spent, read and written together, by all who share it."""

    def __init__(self, tokens: int) -> None:
        """Begin with so many, at least 0."""
        self._tokens = tokens
        self._spent = 0
        self._counting = threading.Lock()

    @property
    def tokens(self) -> int:
        """As given."""
        return self._tokens

    @property
    def spent(self) -> int:
        """So far. It may pass `tokens` by what the calls took that ran when it was used up."""
        return self._spent

    def spend(self, tokens: int) -> None:
        """Count what a call took."""
        with self._counting:
            self._spent += tokens

    def check(self) -> None:
        """Make sure that there is something left for another call.

        Raises:
            BudgetSpent: there is not.
        """
        if self._spent >= self._tokens:
            raise BudgetSpent(
                f"the budget of {self._tokens:,} tokens is used up ({self._spent:,} spent); give more with "
                "--budget-tokens and run it again: what is done already is not done twice"
            )


class MeteredChatModel:
    """A `ChatModel` that asks another one, and notes every call.

    What was asked before is answered from the cache, at no cost.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        ledger: Ledger | None,
        cache: ReplyCache | None,
        memory: str,
        purpose: Purpose,
        budget: Budget | None = None,
    ) -> None:
        """Put it before a model.

        Args:
            model: the one that is asked. It is cached only if it has a `fingerprint`, as those have that the settings
                name: a model given as an object may well answer otherwise each time.
            ledger: where calls are noted.
            cache: where whole replies are kept.
            memory: whose calls and replies they are.
            purpose: what for.
            budget: shared by whoever is to stop together.
        """
        self._model = model
        self._ledger = ledger
        self._cache = cache
        self._memory = memory
        self._purpose: Purpose = purpose
        self._budget = budget
        self._fingerprint: str | None = getattr(model, "fingerprint", None)

    @property
    def name(self) -> str:
        """That of the model."""
        return self._model.name

    def complete(
        self, system: str, user: str, *, max_tokens: int, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        """What the model says, or said when it was asked the same before: then with 0 tokens.

        Raises:
            ModelError: as the model.
            BudgetSpent: before a call, when there is nothing left.
        """
        kept = self._kept(system, user, max_tokens, schema)
        if kept is not None:
            return kept
        if self._budget is not None:
            self._budget.check()
        started = time.perf_counter()
        try:
            found = self._model.complete(system, user, max_tokens=max_tokens, schema=schema)
        except ModelError as error:
            self._note(started, error.kind, failed_tries=error.tries)
            raise
        return self._done(found, started, system, user, max_tokens, schema)

    def stream(self, system: str, user: str, *, max_tokens: int) -> Iterator[str | Completion]:
        """As `complete`, in pieces. What nobody reads to its end is noted as `stopped`.

        Raises:
            ModelError: as the model.
            BudgetSpent: before a call, when there is nothing left.
        """
        kept = self._kept(system, user, max_tokens, None)
        if kept is not None:
            yield kept.text
            yield kept
            return
        if self._budget is not None:
            self._budget.check()
        started, written, ended = time.perf_counter(), 0, False
        try:
            for piece in self._model.stream(system, user, max_tokens=max_tokens):
                if isinstance(piece, Completion):
                    ended = True
                    yield self._done(piece, started, system, user, max_tokens, None)
                else:
                    written += len(piece)
                    yield piece
        except ModelError as error:
            ended = True
            self._note(started, error.kind, failed_tries=error.tries)
            raise
        finally:
            if not ended:
                self._note(started, "stopped", _about(system + user), written // 4, estimated=True)

    def discard(self, system: str, user: str, *, max_tokens: int, schema: Mapping[str, Any] | None = None) -> None:
        """Keep the reply to this no longer: it was of no use, and asking again should ask the model."""
        if self._cache is not None and self._fingerprint is not None:
            self._cache.drop(self._memory, ReplyCache.key(self._fingerprint, system, user, max_tokens, schema))

    def _kept(self, system: str, user: str, max_tokens: int, schema: Mapping[str, Any] | None) -> Completion | None:
        if self._cache is None or self._fingerprint is None:
            return None
        started = time.perf_counter()
        found = self._cache.get(self._memory, ReplyCache.key(self._fingerprint, system, user, max_tokens, schema))
        if found is not None:
            self._note(started, "cached")
        return found

    def _done(
        self,
        found: Completion,
        started: float,
        system: str,
        user: str,
        max_tokens: int,
        schema: Mapping[str, Any] | None,
    ) -> Completion:
        if not found.input_tokens and not found.output_tokens:
            found = replace(found, input_tokens=_about(system + user), output_tokens=_about(found.text), estimated=True)
        whole = found.text and not found.half and found.finish_reason is not None
        outcome = "ok" if whole else "cut_off" if found.text else "empty"
        failed = (*found.failed_tries, *(() if outcome == "ok" else (outcome,)))
        self._note(
            started, outcome, found.input_tokens, found.output_tokens,
            estimated=found.estimated, failed_tries=failed,
        )  # fmt: skip
        if self._cache is not None and self._fingerprint is not None:
            key = ReplyCache.key(self._fingerprint, system, user, max_tokens, schema)
            self._cache.put(self._memory, key, found)
        return found

    def _note(
        self,
        started: float,
        outcome: str,
        input_tokens: int = 0,
        output_tokens: int = 0,
        *,
        estimated: bool = False,
        failed_tries: tuple[str, ...] = (),
    ) -> None:
        if self._budget is not None:
            self._budget.spend(input_tokens + output_tokens)
        if self._ledger is not None:
            seconds = time.perf_counter() - started
            self._ledger.note(
                Call(
                    self._memory, self._purpose, self.name, input_tokens, output_tokens, seconds, outcome,
                    estimated, failed_tries,
                )
            )  # fmt: skip


def metered(
    model: ChatModel, settings: Settings, *, memory: str, purpose: Purpose, budget: Budget | None = None
) -> MeteredChatModel:
    """A model with the ledger and the cache of the settings before it."""
    path = usage_file(settings)
    return MeteredChatModel(
        model,
        ledger=Ledger(path),
        cache=ReplyCache(path) if settings.response_cache else None,
        memory=memory,
        purpose=purpose,
        budget=budget,
    )


def _about(text: str) -> int:
    """About how many tokens: one for four characters."""
    return (len(text) + 3) // 4
