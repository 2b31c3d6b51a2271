"""A language model as the judge of answers: correct or incorrect, supported or not; and how far it can be trusted.

The reply is parsed strictly. What is not one clear verdict is none: the judge is asked once more, and after that the
answer counts as wrong and is listed. How often a judge agrees with people is measured on sixty answers that were
marked by hand (`judge_items.jsonl`, invented for the purpose).
"""

import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, cast

import numpy as np

from assomem.errors import InputError, ModelError
from assomem.evaluation.files import key_of
from assomem.evaluation.results import Lines
from assomem.evaluation.statistics import bootstrap_interval
from assomem.models.chat import ChatModel, Completion
from assomem.prompts import Prompt, load_prompt

V = TypeVar("V", bound=str)

Verdict = Literal["correct", "incorrect"] | None
"""What a judge says of an answer; None: its reply was no clear verdict."""

Support = Literal["supported", "unsupported"] | None
"""What a judge says of a statement and the evidence it cites."""

_REPLY_TOKENS = 400
"""A few are wanted; the room is for models that think aloud before them."""

_MOST_CHARACTERS = 6000
"""Of an answer a judge is shown so much."""


# -- asking


@dataclass(frozen=True)
class Judged(Generic[V]):
    """What a judge said."""

    verdict: V | None
    input_tokens: int = 0
    output_tokens: int = 0
    error: ModelError | None = None
    """Why the judge could not be asked."""

    @property
    def failed(self) -> str | None:
        """The same in words."""
        return None if self.error is None else f"{type(self.error).__name__}: {self.error}"


class Judge:
    """A language model that marks answers. Clear verdicts are kept on disk and not asked for twice."""

    def __init__(self, chat: ChatModel, folder: Path | None = None, *, fingerprint: str | None = None) -> None:
        """Name the model, and where its verdicts are kept.

        Args:
            chat: the model.
            folder: None: nowhere.
            fingerprint: what the model is known by there; default: its own, or its name.
        """
        self._chat = chat
        fingerprint = fingerprint or getattr(chat, "fingerprint", chat.name)
        self._kept = {
            name: Lines(None if folder is None else folder / f"{key_of(fingerprint, prompt.system, prompt.user)}.jsonl")
            for name in ("judge", "support")
            for prompt in (load_prompt(name),)
        }

    @property
    def name(self) -> str:
        """That of the model."""
        return self._chat.name

    def judge(self, question: str, reference: str, answer: str) -> Judged[Literal["correct", "incorrect"]]:
        """Whether an answer says what the reference says.

        Raises:
            BudgetSpent: there is nothing left for another call.
        """
        values = {"question": _one_line(question), "reference": _one_line(reference), "answer": _one_line(answer)}
        return self._asked("judge", values, parse_verdict, ("correct", "incorrect"))

    def supports(self, statement: str, evidence: str) -> Judged[Literal["supported", "unsupported"]]:
        """Whether pieces of evidence, one a line, say what a statement says.

        Raises:
            BudgetSpent: there is nothing left for another call.
        """
        values = {"statement": _one_line(statement), "evidence": evidence[:_MOST_CHARACTERS]}
        return self._asked("support", values, parse_support, ("supported", "unsupported"))

    def _asked(
        self, name: str, values: dict[str, str], parse: Callable[[str], V | None], words: tuple[V, V]
    ) -> Judged[V]:
        prompt, kept = load_prompt(name), self._kept[name]
        key = key_of(*sorted(values.items()))
        known: object = (kept.get(key) or {}).get("verdict")
        if known in words:
            return Judged(cast(V, known))
        user = prompt.fill(values)
        read = written = 0
        for again in (False, True):
            try:
                found = self._reply(prompt, user, words, again=again)
            except ModelError as error:
                return Judged(None, read, written, error)
            read, written = read + found.input_tokens, written + found.output_tokens
            verdict = parse(found.text)
            if verdict is not None:
                kept.add(key, {"verdict": verdict})
                return Judged(verdict, read, written)
        return Judged(None, read, written)

    def _reply(self, prompt: Prompt, user: str, words: Sequence[str], *, again: bool) -> Completion:
        if again:
            # Another prompt, so that a model without chance does not give the same reply.
            more = f"{user}\n\nReply with one word and nothing else: {' or '.join(words)}."
            return self._chat.complete(prompt.system, more, max_tokens=_REPLY_TOKENS)
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {"verdict": {"type": "string", "enum": list(words)}},
            "required": ["verdict"],
            "additionalProperties": False,
        }
        return self._chat.complete(prompt.system, user, max_tokens=_REPLY_TOKENS, schema=schema)


def _one_line(text: str) -> str:
    """So that no text can begin a line of its own in the prompt."""
    return " ".join(text.split())[:_MOST_CHARACTERS]


# -- how far a judge can be trusted


@dataclass(frozen=True)
class JudgeItem:
    """An answer that a person has marked."""

    item_id: str
    question: str
    reference: str
    answer: str
    label: Literal["correct", "incorrect"]
    covers: str
    """What it tries, such as paraphrase or negation."""
    reason: str
    """Why it is labelled so."""


@dataclass(frozen=True)
class Agreement:
    """How a judge's verdicts compare with a person's."""

    judge: str
    items: int
    accuracy: float
    """The share of the items on which they agree; an item without a verdict is none."""
    ci95: tuple[float, float]
    kappa: float | None
    """Cohen's; None where both know one verdict only."""
    too_kind: tuple[str, ...]
    """Ids of the incorrect answers that the judge takes for correct."""
    too_strict: tuple[str, ...]
    """Ids of the correct answers that the judge takes for incorrect."""
    unparsed: tuple[str, ...]
    """Ids of the items on which it gave no clear verdict."""
    failed: dict[str, str]
    """Ids of the items on which it could not be asked, with the reason."""
    tokens: int

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "model": self.judge,
            "items": self.items,
            "accuracy": round(self.accuracy, 6),
            "ci95": {"accuracy": [round(end, 6) for end in self.ci95]},
            "kappa": None if self.kappa is None else round(self.kappa, 6),
            "too_kind": list(self.too_kind),
            "too_strict": list(self.too_strict),
            "unparsed": list(self.unparsed),
            "failed": dict(self.failed),
            "tokens": self.tokens,
        }


@cache
def judge_items() -> tuple[JudgeItem, ...]:
    """The sixty answers that were marked by hand."""
    text = files("assomem.evaluation").joinpath("judge_items.jsonl").read_text(encoding="utf-8")
    return tuple(JudgeItem(**json.loads(line)) for line in text.splitlines())


def agreement(
    judge: Judge, items: Sequence[JudgeItem] | None = None, progress: Callable[[int], None] = lambda _: None
) -> Agreement:
    """Have a judge mark what a person has marked; default: the sixty shipped answers.

    Raises:
        InputError: there are no items.
        BudgetSpent: there was not enough for all of them; what was marked is kept.
    """
    marked = judge_items() if items is None else items
    if not marked:
        raise InputError("items: are none; a judge is compared with at least one answer that a person has marked")
    found: list[Judged[Literal["correct", "incorrect"]]] = []
    for item in marked:
        found.append(judge.judge(item.question, item.reference, item.answer))
        progress(1)
    labels = [item.label for item in marked]
    verdicts = [one.verdict for one in found]
    same = np.array([label == verdict for label, verdict in zip(labels, verdicts, strict=True)], np.float64)

    def ids(label: str, verdict: str | None) -> tuple[str, ...]:
        return tuple(
            item.item_id
            for item, one in zip(marked, found, strict=True)
            if one.failed is None and one.verdict == verdict and item.label == label
        )

    return Agreement(
        judge.name,
        len(marked),
        float(same.mean()),
        bootstrap_interval(same),
        cohens_kappa(labels, verdicts),
        ids("incorrect", "correct"),
        ids("correct", "incorrect"),
        ids("correct", None) + ids("incorrect", None),
        {item.item_id: one.failed for item, one in zip(marked, found, strict=True) if one.failed is not None},
        sum(one.input_tokens + one.output_tokens for one in found),
    )


def cohens_kappa(labels: Sequence[str | None], verdicts: Sequence[str | None]) -> float | None:
    """How much more two agree than they would by chance: (p_o - p_e) / (1 - p_e).

    p_o is the share of items on which they agree, p_e = sum over the categories of the product of the shares in which
    each uses it; None is a category of its own. Cohen, A coefficient of agreement for nominal scales (1960). 1: always,
    0: as by chance, negative: less. None when p_e is 1, which is when both use one and the same category throughout.

    Raises:
        InputError: they are not equally many, or none.
    """
    count = len(labels)
    if not count or count != len(verdicts):
        raise InputError(
            f"kappa needs as many labels as verdicts, at least one: {count} and {len(verdicts)} were given"
        )
    # In whole numbers, so that 1 is 1.
    agreed = sum(label == verdict for label, verdict in zip(labels, verdicts, strict=True)) * count
    chance = sum(labels.count(one) * verdicts.count(one) for one in {*labels, *verdicts})
    return None if chance == count * count else (agreed - chance) / (count * count - chance)


# -- reading a reply


def parse_verdict(reply: str) -> Verdict:
    """`correct` or `incorrect`, if the reply states exactly one of them.

    A statement is a whole sentence that says nothing else: "Incorrect.", "The answer is not correct", "Verdict:
    correct", "Correct? No.", `{"verdict": "incorrect"}`; a reason may follow a colon, a dash or "because". Reasoning in
    `<think>` is left out. Statements that contradict each other are none, and neither is one that is taken back in the
    same line ("Correct. But the date is incorrect."), hedged ("partly correct") or a double negation ("not incorrect":
    that is less than "correct"). What stands in later lines and is no statement does not matter.
    """
    return _stated(_CORRECT, reply, "correct")


def parse_support(reply: str) -> Support:
    """`supported` or `unsupported`, by the rules of `parse_verdict`."""
    return _stated(_SUPPORTED, reply, "supported")


def _stated(words: "_Words[V]", reply: str, positive: V) -> V | None:
    """What the reply states; a positive statement only where nothing in the reply takes anything of it back."""
    reply = _REASONING.sub("", reply)
    # "The correct answer: Rome" tells the reference and marks nothing.
    found = words.read(_THE_RIGHT_ONE.sub("", reply))
    if found != positive:
        return found
    return None if _UNMARKED.search(reply) or _TAKEN_BACK.search(_JSON_OBJECT.sub("", reply)) else found


_REASONING = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_THE_RIGHT_ONE = re.compile(
    r"(?:\bthe\s+)?\bcorrect\s+(?:answer|one|response|reply|value)\b(?:\s*\([^)\n]*\))?[\s*_]*:[^\n\"{}]*",
    re.IGNORECASE,
)
_UNMARKED = re.compile(r"\[\s*[xX✓✔]?\s*\]|~~|☐|☑|\b(?:correct|supported)\W{1,4}(?:false|no|0)\b", re.IGNORECASE)
"""Boxes to tick, text struck out, "correct: false": what is marked there cannot be told from the words alone."""
_TAKEN_BACK = re.compile(
    r"\b(?:wrong(?:ly)?|mistaken?|errors?|erroneous|fails?|failed|mostly|partly|partially|apart from|except|although|"
    r"though|no, wait|wait|on reflection|changed my mind|do not think|don't think|contradicts?)\b|\(not\)",
    re.IGNORECASE,
)
_JSON_OBJECT = re.compile(r"\{[^{}]*\}")
_END_OF_REASONING = re.compile(r"\A.*</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
_TEMPLATE_MARK = re.compile(r"<\|[^|<>]{1,40}\|>|</?s>")
_BOXED = re.compile(r"\\(?:boxed|text|textbf|mathrm)\s*\{([^{}]*)\}")
_PAIR = re.compile(r"[\"'“”]?(\w{1,40})[\"'“”]?\s*:\s*(?:[\"'“]([^\"'”{}]*)[\"'”]?|(true|false)\b)", re.IGNORECASE)
_VERDICT_KEYS = frozenset(
    "verdict label judgment judgement result answer decision grade evaluation assessment output response".split()
)
_CONTRARY = re.compile(r"[\W_]*(?:but|however|wait|actually|on second thought)\b")
_SENTENCE = re.compile(r"[^.!?。！？]+[.!?。！？]*|[.!?。！？]+")


class _Words(Generic[V]):
    """Reads replies for one pair of opposite words, such as correct and incorrect."""

    def __init__(self, positive: V, negative: V) -> None:
        self._positive: V = positive
        self._negative: V = negative
        word = rf"(?P<word>{negative}|{positive})"
        self._mention = re.compile(rf"\b(?:{negative}|{positive})\b")
        self._of_the_answer = re.compile(rf"\b({negative}|{positive})(?=\s*(?:[.,;:!?)\]]|$))")
        """The word as what is said of something, unlike that in "the correct answer is …"."""
        self._statement = re.compile(
            r"(?:(?:so|thus|hence|therefore|overall|in conclusion|in short|final|finally|okay|ok|well)\s*[,:]?\s+)*"
            r"(?:(?P<said>yes|no)\s*[,:.–—-]?\s+)?"
            r"(?:(?:(?:my|the|your|final|overall)\s+)*"
            r"(?:verdict|judge?ment|label|result|answer|decision|grade|evaluation|assessment|conclusion|rating|mark|reply|"
            r"response|output|one word)\s*(?:[:=–—-]|is:)\s*)?"
            r"(?:i\s+(?:would\s+say|think|believe|judge|conclude|find)\s+(?:that\s+)?)?"
            r"(?:(?:the|this|that|it|its|candidate|candidate's|given|provided|proposed|student's|model's|assistant's|answer|"
            r"response|reply|statement|claim|mark|verdict|judge?ment|which)\s+(?:to be marked\s+)?)*"
            r"(?:(?:is|was|must be|should be|can be|has to be)\s+"
            r"(?:(?:marked|judged|considered|labell?ed|graded|deemed)\s+"
            r"(?:as\s+)?)?)?"
            r"(?:(?:therefore|thus|hence|clearly|factually|simply|definitely|indeed|also)\s*,?\s+)*"
            r"(?P<negation>(?:not|isn't|is\s*n't|wasn't|never)\s+)?"
            r"(?:(?:entirely|completely|fully|quite|exactly|really|strictly|absolutely)\s+)*"
            r"(?:(?:a|an|the|considered|as)\s+)?"
            rf"{word}(?:\s+(?:answer|response|reply|one|statement|claim))?"
            r"(?P<why>\s*(?:[:;,(–—]|\s-)\s*.*|\s+(?:because|since|as)\b.*)?",
            re.DOTALL,
        )
        self._question = re.compile(rf"\b{word}\s*\?\s*(?:[:–—-]\s*)?(?P<said>yes|no)\b\s*(?P<rest>.*)", re.DOTALL)

    def read(self, reply: str) -> V | None:
        text = self._plain(reply)
        if "{" in text:
            return self._of_pairs(text)
        found: set[V] = set()
        for line in text.splitlines():
            verdict, clear = self._of_line(line)
            if not clear or (found and verdict is None and _CONTRARY.match(line.strip())):
                return None
            if verdict is not None:
                found.add(verdict)
        return found.pop() if len(found) == 1 else None

    def _plain(self, reply: str) -> str:
        """In lower case, without reasoning, marks of templates and typography."""
        text = _END_OF_REASONING.sub("", _REASONING.sub("", reply))
        text = unicodedata.normalize("NFKC", _BOXED.sub(r"\1", _TEMPLATE_MARK.sub(" ", text)))
        text = "".join(one for one in text if unicodedata.category(one) != "Cf")
        text = re.sub(r"[✓✔✅☑]\ufe0f?", " yes ", re.sub(r"[✗✘❌❎]\ufe0f?", " no ", text)).casefold()
        text = re.sub(r"\bnot\s*\n\s*", "not ", text.replace("’", "'").replace("`", " "))
        prefix = self._negative.removesuffix(self._positive)
        return re.sub(rf"\b{prefix}-{self._positive}\b", self._negative, text)

    def _of_pairs(self, text: str) -> V | None:
        """The verdict of a JSON object, whole or cut off."""
        found: set[V | None] = set()
        for key, quoted, truth in _PAIR.findall(text):
            key = key.removeprefix("is_").removeprefix("is")
            if key in {self._positive, self._negative}:
                said = (truth or quoted).strip()
                if said not in {"true", "false", "yes", "no"}:
                    return None
                found.add(self._signed(key, said in {"true", "yes"}))
            elif key in _VERDICT_KEYS:
                found.add(self._of_line(str(quoted))[0])
        return found.pop() if len(found) == 1 else None

    def _of_line(self, line: str) -> tuple[V | None, bool]:
        """What a line states; and False when it states it and takes it back."""
        line = re.sub(r"[*_#>\"“”«»~|\[\]]+", " ", line)
        line = " ".join(re.sub(r"(?<!\w)'|'(?!\w)", " ", line).split()).lstrip("-–—•· ")
        asked = self._question.search(line)
        if asked is not None:
            if len(self._mention.findall(line)) > 1 or _taken_back(asked["rest"]):
                return None, False
            verdict = self._signed(asked["word"], asked["said"] == "yes")
            return verdict, verdict is not None
        verdict: V | None = None
        for sentence in _SENTENCE.findall(line):
            # Not after a point: "Incorrect. 3.5 km" is cut into three, which are no statements then.
            stated, clear = self._of_sentence(sentence.strip().lstrip("(… "))
            if not clear:
                return None, False
            if stated is not None:
                if verdict not in {None, stated}:
                    return None, False
                verdict = stated
            elif verdict is not None and (
                {*self._of_the_answer.findall(sentence)} - {verdict} or _taken_back(sentence.strip())
            ):
                return None, False
        return verdict, True

    def _of_sentence(self, sentence: str) -> tuple[V | None, bool]:
        if sentence.endswith(("?", "？")):
            return None, True
        found = self._statement.fullmatch(sentence.rstrip(" .!。！,;:)"))
        if found is None:
            return None, True
        why = (found["why"] or "").strip(" :;,(–—-")
        if _taken_back(why) or {*self._of_the_answer.findall(why)} - {found["word"]}:
            return None, False
        verdict = self._signed(found["word"], found["negation"] is None)
        if verdict is None or (found["said"] is not None and (found["said"] == "yes") != (verdict == self._positive)):
            return None, False
        return verdict, True

    def _signed(self, word: str, holds: bool) -> V | None:
        """The word if it holds; of the positive word the opposite if not; nothing of "not incorrect"."""
        if holds:
            return self._positive if word == self._positive else self._negative
        return self._negative if word == self._positive else None


def _taken_back(rest: str) -> bool:
    """Whether what follows a verdict begins by limiting it."""
    return re.match(
        r"(?:but|though|although|however|except|if|unless|only|or|no|not|yes|wait|yet|still|at least|in part|partly|"
        r"partially|almost|nearly|perhaps|maybe|actually|on second thought)\b",
        rest,
    ) is not None  # fmt: skip


_CORRECT = _Words[Literal["correct", "incorrect"]]("correct", "incorrect")
_SUPPORTED = _Words[Literal["supported", "unsupported"]]("supported", "unsupported")
