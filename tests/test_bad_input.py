"""Input as it comes: broken characters are mended once, at the door; wrong values are refused by name."""

from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from assomem import AssoMem, Session, Utterance
from assomem.errors import InputError, TimezoneNeeded


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("half \ud83e here", "half \ufffd here"),
        ("joined \ud83e\udda9 here", "joined \U0001f9a9 here"),
        ("nul \x00 inside", "nul \x00 inside"),
        ("\ufeffmark, \u202ertl and \u0301", "\ufeffmark, \u202ertl and \u0301"),
        ("  blanks stay  \r\n", "  blanks stay  \r\n"),
    ],
)
def test_text_is_made_well_formed_once_and_is_verbatim_otherwise(memory: AssoMem, given: str, stored: str) -> None:
    said = Session("s", [Utterance("Mira", given), Utterance("Tove", "a quiet day")])
    assert memory.remember([said]).new == 2
    assert memory.remember([said]).unchanged == 2
    assert memory.show("s:1")[0]["text"] == stored
    assert stored in [piece.text for piece in memory.search(given).evidence]
    assert not memory.ask(given).text.encode("utf-8").startswith(b"\x00")


@pytest.mark.parametrize("value", [5, 1.5, Decimal(1), Path("x"), np.float64(2), b"bytes", ["text"], None])
@pytest.mark.parametrize("field", ["session_id", "speaker", "text"])
def test_a_value_of_the_wrong_type_is_refused_by_field_and_nothing_is_stored(
    memory: AssoMem, value: Any, field: str
) -> None:
    values: dict[str, Any] = {"session_id": "s", "speaker": "Mira", "text": "words"} | {field: value}
    session = Session(values["session_id"], [Utterance(values["speaker"], values["text"])])
    with pytest.raises(InputError, match=field):
        memory.remember([Session("fine", [Utterance("Mira", "words")]), session])
    assert memory.memory not in {row["memory"] for row in memory.memories()}


def test_a_session_id_may_be_a_uuid(memory: AssoMem) -> None:
    identifier: Any = UUID(int=7)
    memory.remember([Session(identifier, [Utterance("Mira", "words")])])
    assert [row["session_id"] for row in memory.sessions()] == [str(identifier)]


def test_a_time_that_is_no_time_is_refused(memory: AssoMem) -> None:
    wrong: Any = "2026-03-02"
    with pytest.raises(InputError, match="said_at"):
        memory.append("s", Utterance("Mira", "words", wrong))


def test_a_time_without_a_zone_is_read_in_the_zone_given_or_refused(memory: AssoMem) -> None:
    at = datetime(2026, 7, 1, 12)
    memory.remember([Session("s", [Utterance("Mira", "words", at)])], timezone="Europe/Berlin")
    assert memory.show("s")[0]["said_at"].isoformat() == "2026-07-01T12:00:00+02:00"
    without = AssoMem(memory.memory, settings=memory.settings.model_copy(update={"timezone": None}))
    with pytest.raises(TimezoneNeeded, match="--timezone"):
        without.remember([Session("t", [Utterance("Mira", "words", at)])])
    without.close()
