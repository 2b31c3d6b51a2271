"""Put the tables of `make tables` into docs/ranking.md, between its two marks.

    python benchmarks/tables.py build/tables

The folder holds results.json of `assomem evaluate` and fit.json of `assomem fit`.
"""

import json
import sys
from pathlib import Path
from typing import Any

from assomem.evaluation.report import markdown

PAGE = Path(__file__).parents[1] / "docs" / "ranking.md"
BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"


def with_tables(page: str, results: dict[str, Any], fit: dict[str, Any]) -> str:
    """The page with these tables between its marks."""
    sets = results["settings"]["data"]
    whole = {"data", "comparisons", "density"}
    chosen = {
        name: {one: found for one, found in value.items() if one in sets} if name in whole else value
        for name, value in results.items()
    }
    tables = markdown(chosen).replace("# Evaluation\n", "", 1).replace("\n#", "\n##")
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    parts = "\n\n".join((tables.strip(), _fit_table(fit["recall@10"]), _reach(fit["candidates"])))
    return f"{before}{BEGIN}\n{parts}\n{END}{after}"


def _fit_table(worth: dict[str, dict[str, float | None]]) -> str:
    lines = ["### Recall@10 by where the weights come from", "", f"| weights | {' | '.join(worth)} |"]
    lines.append("| --- " + "| ---: " * len(worth) + "|")
    for way in next(iter(worth.values())):
        cells = ("–" if one[way] is None else f"{100 * float(one[way] or 0):.1f}" for one in worth.values())
        lines.append(f"| {way} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _reach(candidates: dict[str, dict[str, float]]) -> str:
    lines = ["### Candidates", "", "| data | evidence among them | mean | most |", "| --- | ---: | ---: | ---: |"]
    for name, one in candidates.items():
        lines.append(f"| {name} | {100 * one['recall']:.1f} | {one['mean']:.0f} | {one['most']:.0f} |")
    return "\n".join(lines)


def main() -> None:
    """Renew the page."""
    folder = Path(sys.argv[1])
    results, fit = (json.loads((folder / name).read_text(encoding="utf-8")) for name in ("results.json", "fit.json"))
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), results, fit), encoding="utf-8")


if __name__ == "__main__":
    main()
