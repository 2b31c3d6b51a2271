"""The prompts, one `.md` file each: loaded once, checked, and filled without a way for a text to break out.

A file begins with `<!-- parameters: a, b -->`, then `## system` and `## user`, each with its text. The system
part is fixed; the parameters stand in braces in the user part, each of them once and no others.
"""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files

from assomem.errors import QueryFileError, QueryParameterError

_FILE = re.compile(
    r"<!-- parameters: (?P<parameters>[a-z_, ]+) -->\n"
    r"## system\n(?P<system>.+)\n"
    r"## user\n(?P<user>.+)",
    re.DOTALL,
)
_PARAMETER = re.compile(r"\{([a-z_]+)\}")
_TAG = re.compile(r"^</?([a-z_]+)>$", re.MULTILINE)
_NEW_LINE = re.compile(r"(\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])")
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

# What chat templates put around messages. Some servers read these marks wherever they stand, so a stored text
# that holds one could end the user's message and begin one of the system's.
_TEMPLATE_MARKS = r"[|｜][^<>|｜\n]{1,60}[|｜]>|/?s>|(?:start|end)_of_turn>|<?/?sys>"
_BRACKET_MARKS = re.compile(r"\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_RESULTS)\])", re.IGNORECASE)


@dataclass(frozen=True)
class Prompt:
    """One prompt of the package."""

    name: str
    system: str
    """The same bytes in every call."""

    user: str
    """With its parameters in braces."""

    parameters: frozenset[str]

    def fill(self, values: Mapping[str, str]) -> str:
        """The user part with the values in place.

        In a value, whatever could be taken for a boundary of this prompt or of a chat template
        (`</evidence>`, `<|im_end|>`) begins with `‹` instead of its bracket and so is none; nothing else is
        changed.

        Raises:
            QueryParameterError: the names given are not the prompt's parameters.
        """
        if values.keys() ^ self.parameters:
            raise QueryParameterError(
                f"prompt {self.name}: takes {', '.join(sorted(self.parameters))}; "
                f"was given {', '.join(sorted(values)) or 'nothing'}"
            )
        tags = "".join(rf"|\s*/?\s*{tag}\s*>" for tag in sorted(set(_TAG.findall(self.user))))
        marks = re.compile(rf"<(?={_TEMPLATE_MARKS}{tags})", re.IGNORECASE)
        # In one pass, so that a value which holds `{question}` stays as it is.
        return _PARAMETER.sub(lambda found: _BRACKET_MARKS.sub("‹", marks.sub("‹", values[found[1]])), self.user)


@functools.cache
def load_prompt(name: str) -> Prompt:
    """The prompt in `<name>.md`.

    Raises:
        QueryFileError: there is none of that name, or it is not of the form described above.
    """
    try:
        text = files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")
    except OSError as error:
        raise QueryFileError(f"prompt {name}: there is no readable prompts/{name}.md in the package") from error
    return parse_prompt(name, text)


def parse_prompt(name: str, text: str) -> Prompt:
    """The prompt in the text of a prompt file.

    Raises:
        QueryFileError: it is not of the form described above.
    """
    found = _FILE.fullmatch(text)
    if found is None:
        raise QueryFileError(
            f"prompt {name}: must be `<!-- parameters: a, b -->`, then `## system` and `## user`, each with its text"
        )
    declared = frozenset(part.strip() for part in found["parameters"].split(","))
    used = _PARAMETER.findall(found["user"])
    if sorted(used) != sorted(declared):
        raise QueryFileError(
            f"prompt {name}: declares {', '.join(sorted(declared))}; "
            f"its user part uses {', '.join(sorted(used))}, and each must stand there once"
        )
    return Prompt(name, found["system"].strip(), found["user"].strip(), declared)


def quoted_line(number: int, said_at: datetime | None, speaker: str, text: str) -> str:
    """An utterance as prompts show it: `[number] date time (weekday) speaker: text`, its further lines indented.

    So only what begins a line is a beginning, whatever the text or the speaker's name hold.
    """
    moment = "undated"
    if said_at is not None:
        moment = f"{said_at.date().isoformat()} {said_at.time().isoformat('minutes')} ({_WEEKDAYS[said_at.weekday()]})"
    return f"[{number}] {moment} {' '.join(speaker.split())}: {_indented(text)}"


def _indented(text: str) -> str:
    return _NEW_LINE.sub(r"\1    ", text)
