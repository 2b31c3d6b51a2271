"""Points in time as files, options and people write them."""

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from assomem.errors import InputError, TimezoneNeeded

_SHOWN_CHARACTERS = 40
"""A longer text is no time stamp: it is not repeated in a message, it may be what somebody said."""


def parse_moment(text: str, zone: str | None) -> datetime:
    """The moment an ISO 8601 text names, with a zone.

    `2023-07-20T15:00:00+08:00`, `2023-07-20 15:00Z`, `20230720T150000`, `2023-07-20`: a date alone is the
    start of that day. An offset in the text wins. Without one the text is wall time in `zone` (an IANA name
    such as `Europe/Paris`, `UTC`, or an offset such as `+02:00`): of an hour that occurs twice the first is
    meant, a time that a clock change skips is moved forward by what was skipped.

    Raises:
        TimezoneNeeded: the text has no offset and `zone` is None.
        InputError: the text is no ISO 8601 time, or `zone` is not a zone.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        # An offset may carry a time out of the years 1..9999, where it is no longer an instant.
        if moment.tzinfo is not None:
            moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InputError(
            f"{_shown(text)} is not a time. Allowed is ISO 8601, for example 2023-07-20T15:00:00+02:00, "
            "2023-07-20T15:00:00Z or 2023-07-20."
        ) from error
    if moment.tzinfo is not None:
        return moment
    if zone is None:
        raise TimezoneNeeded(
            f"{_shown(text)} has no time zone. Write it with one (a trailing Z or +02:00), or say which zone "
            "such times are in with --timezone (ASSOMEM_TIMEZONE), for example Europe/Paris."
        )
    local = moment.replace(tzinfo=_zone(zone), fold=0)
    try:
        # There and back moves a skipped wall time forward and leaves every other one as it is.
        return local.astimezone(UTC).astimezone(local.tzinfo)
    except OverflowError as error:
        raise InputError(f"{_shown(text)} is outside the years 1 to 9999 in the zone {zone[:40]}.") from error


def end_of_day(moment: datetime) -> datetime:
    """The first moment after the calendar day of `moment`, in its own zone.

    Raises:
        InputError: `moment` has no zone.
    """
    if moment.utcoffset() is None:
        raise InputError("the moment has no time zone, so its day has no end. Give a datetime with tzinfo.")
    if moment.date() == date.max:
        return datetime.max.replace(tzinfo=moment.tzinfo)
    return datetime.combine(moment.date() + timedelta(days=1), time(), tzinfo=moment.tzinfo)


@cache
def _zone(name: str) -> tzinfo:
    """The zone of an IANA name or of an offset such as `+02:00`.

    Raises:
        InputError: there is no such zone.
    """
    if name[:1] in {"+", "-"}:
        try:
            offset = datetime.fromisoformat(f"2000-01-01T00:00:00{name}").tzinfo
        except ValueError:
            offset = None
        if offset is not None:
            return offset
    else:
        try:
            return ZoneInfo(name)
        # A folder of the zone database (`Europe`) is an OSError, a path out of it a ValueError.
        except (ZoneInfoNotFoundError, ValueError, OSError):
            pass
    raise InputError(
        f"{_shown(name)} is not a time zone. Allowed is an IANA name such as Europe/Paris, UTC, "
        "or an offset such as +02:00."
    )


def _shown(text: str) -> str:
    """The text for a message, or only its length when it is too long to be a time."""
    return repr(text) if len(text) <= _SHOWN_CHARACTERS else f"a text of {len(text)} characters"
