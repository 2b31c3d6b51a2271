"""Time expressions of English text as intervals relative to a given now; and times as people type them.

tokens      text → words, numbers, signs, with what stands around each of them
quantities  "two", "a couple of weeks", "2-3 months"
spans       calendar arithmetic: the week of a day, the third Monday of a month, a month earlier
holidays    the date of a named day in a year
named       rules for periods that have a name: dates, months, years, weekdays, holidays
relative    rules for periods counted from now: "last week", "three days ago", "the past month"
phrases     rules built on another period: "early March", "the weekend before 17 July", "3pm yesterday"
resolver    which rule wins, ranges and open ends, and the way back to the zone of now
moments     ISO 8601 with a zone, the end of a day
"""

from assomem.times.interval import Granularity, Interval
from assomem.times.moments import end_of_day, parse_moment
from assomem.times.resolver import resolve

__all__ = ["Granularity", "Interval", "end_of_day", "parse_moment", "resolve"]
