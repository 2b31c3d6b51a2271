"""The results for people: Markdown, and one page of HTML that needs nothing from anywhere."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

Results = Mapping[str, Any]
"""The JSON of `assomem evaluate`: data, comparisons, skipped, degraded, settings; density after a density study,
answers after `--answers`."""

Table = tuple[str, list[str], list[list[str]]]
"""Title, columns, rows."""

_BAR, _ROW, _LEFT, _WIDTH = 320, 22, 180, 640
_PLOT_HEIGHT = 260
_COLOURS = ("#1b6ca8", "#c8553d", "#3a7d44", "#8a5a9e", "#b8860b", "#4b4b4b", "#d1495b", "#00798c")


def write_report(results: Results, folder: Path) -> list[Path]:
    """Write `results.json`, `report.md` and `report.html` into a folder, made if need be; the files in that order."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for name, text in (
        ("results.json", json.dumps(results, ensure_ascii=False, indent=2, allow_nan=False) + "\n"),
        ("report.md", markdown(results)),
        ("report.html", html(results)),
    ):
        (folder / name).write_text(text, encoding="utf-8")
        written.append(folder / name)
    return written


def markdown(results: Results) -> str:
    """The tables in Markdown. Shares are in per cent, with 95 % intervals in brackets."""
    parts = ["# Evaluation", "", *(f"- {line}" for line in _about(results)), ""]
    for name, methods in results["data"].items():
        parts += [f"## {name}", "", *_markdown_table(*_main_table(results, methods)), "", _aside(methods), ""]
        for title, columns, rows in _more_tables(results, name, methods):
            parts += [f"### {title}", "", *_markdown_table(columns, rows), ""]
    for title, columns, rows in (*_density_tables(results), *sensitivity_tables(results)):
        parts += [f"## {title}", "", *_markdown_table(columns, rows), ""]
    if "answers" in results:
        parts += ["## Answers", "", *(f"- {line}" for line in answers_about(results["answers"])), ""]
        for title, columns, rows in answer_tables(results["answers"]):
            parts += [f"### {title}", "", *_markdown_table(columns, rows), ""]
    return "\n".join(parts)


def html(results: Results) -> str:
    """One self-contained page: the same tables with plots of recall."""
    depth = max(results["settings"]["k"])
    body: list[str] = [
        "<h1>Evaluation</h1>",
        "<ul>",
        *(f"<li>{escape(line)}</li>" for line in _about(results)),
        "</ul>",
    ]
    for name, methods in results["data"].items():
        body += [f"<h2>{escape(name)}</h2>", _bars(methods, f"recall@{depth}")]
        body += [_html_table(*_main_table(results, methods)), f"<p>{escape(_aside(methods))}</p>"]
        for title, columns, rows in _more_tables(results, name, methods):
            body += [f"<h3>{escape(title)}</h3>", _html_table(columns, rows)]
    for name, ways in results.get("density", {}).items():
        for way, sizes in ways.items():
            if len(sizes) > 1:
                body += [f"<h2>Density: {escape(name)}, {escape(way)}</h2>", _curves(sizes, f"recall@{depth}")]
    for title, columns, rows in (*_density_tables(results), *sensitivity_tables(results)):
        body += [f"<h3>{escape(title)}</h3>", _html_table(columns, rows)]
    if "answers" in results:
        body += ["<h2>Answers</h2>", "<ul>"]
        body += [*(f"<li>{escape(line)}</li>" for line in answers_about(results["answers"])), "</ul>"]
        for title, columns, rows in answer_tables(results["answers"]):
            body += [f"<h3>{escape(title)}</h3>", _html_table(columns, rows)]
    style = (
        "body{font:15px/1.5 system-ui,sans-serif;max-width:84rem;margin:2rem auto;padding:0 1rem;color:#222}"
        "table{border-collapse:collapse;margin:.5rem 0 1.5rem}th,td{padding:.25rem .7rem;border-bottom:1px solid #ddd;"
        "text-align:right;white-space:nowrap}th:first-child,td:first-child{text-align:left}svg{max-width:100%}"
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Evaluation</title>'
        f"<style>{style}</style></head>\n<body>\n" + "\n".join(body) + "\n</body></html>\n"
    )


def answer_tables(answers: Results, *, by_type: bool = True) -> list[Table]:
    """The tables of the answers: shares in per cent with intervals in brackets, a dash where nothing was measured."""
    tables: list[Table] = []
    accuracy = f"acc@{answers['settings']['k']}"
    against = [accuracy, "token_f1", "exact_match", "contains", "bert_score"]
    statements = ["faithfulness", "faithfulness_words", "statements_cited", "citations_valid"]
    for name, methods in answers["data"].items():
        rows = [
            [method, str(one["questions"]), str(one["answered"]), *(_cell(one, measure) for measure in against)]
            for method, one in methods.items()
        ]
        tables.append((f"{name}: answers against the references", ["method", "questions", "answered", *against], rows))
        types = sorted({kind for one in methods.values() for kind in one["by_type"]})
        if by_type and len(types) > 1:
            shown = accuracy if answers["settings"]["judge"] is not None else "token_f1"
            first = next(iter(methods.values()))
            rows = [
                [method, *(_cell(one["by_type"][kind], shown) for kind in types)] for method, one in methods.items()
            ]
            columns = ["method", *(f"{kind} ({first['by_type'][kind]['questions']})" for kind in types)]
            tables.append((f"{name}: {shown} by type of question", columns, rows))
        rows = [
            [method, str(one["statements"]), *(_cell(one, measure) for measure in statements)]
            for method, one in methods.items()
        ]
        tables.append((f"{name}: statements and what they cite", ["method", "statements", *statements], rows))
        rows = [
            [method, str(one["questions"]), str(one["abstained"]), _cell(one, "precision"), _cell(one, "recall")]
            for method, one in ((method, found["abstention"]) for method, found in methods.items())
        ]
        columns = ["method", "unanswerable", "abstained", "precision", "recall"]
        tables.append((f"{name}: abstention", columns, rows))
        rows = [
            [
                method,
                f"{one['tokens']['a_question']:,.0f}",
                f"{one['tokens']['judge']:,}",
                _seconds(one["seconds_p50"]),
                _seconds(one["seconds_mean"]),
                str(len(one["failed"])),
                str(len(one["unjudged"])),
            ]
            for method, one in methods.items()
        ]
        columns = ["method", "tokens a question", "tokens of the judge", "s (median)", "s (mean)", "failed", "unjudged"]
        tables.append((f"{name}: what the answers cost", columns, rows))
    return tables


def answers_about(answers: Results) -> list[str]:
    """What the numbers of the answers depend on, and how far the judge can be trusted."""
    settings, judge = answers["settings"], answers["judge"]
    writer = settings["chat_model"] or "nobody (quotes of the best evidence)"
    lines = [
        f"answers by {writer}, from the first {settings['k']} utterances; judge: {settings['judge'] or 'none'}",
        "an answer that abstains, fails or has no clear verdict counts as wrong",
    ]
    if settings["budget_tokens"] is not None:
        lines.append(f"budget {settings['budget_tokens']:,} tokens, spent {settings['spent_tokens']:,}")
    if judge is not None:
        kappa = "not defined" if judge["kappa"] is None else f"{judge['kappa']:.2f}"
        wrong = {"too kind": "too_kind", "too strict": "too_strict", "no clear verdict": "unparsed", "failed": "failed"}
        lines.append(
            f"the judge {judge['model']} agrees with people on {_cell(judge, 'accuracy')} % of {judge['items']} "
            f"answers marked by hand; Cohen's kappa {kappa}; "
            + ", ".join(f"{says} {len(judge[name])}" for says, name in wrong.items())
        )
    lines += [f"{measure} was left out: {reason}" for measure, reason in answers["skipped"].items()]
    lines += [f"degraded: {says}" for says in answers["degraded"]]
    return lines


def _about(results: Results) -> list[str]:
    settings = results["settings"]
    lines = [
        f"assomem {settings['version']}, embedder {settings['embedder']}, clues {settings['clues']}, "
        f"weights {settings['weights']}",
        "shares in per cent, means over questions; in brackets 95 % intervals (bootstrap over questions)",
    ]
    if settings["limit"] is not None:
        lines.append(f"only {settings['limit']} questions of each memory: no result to quote")
    lines += [f"{method} was left out: {reason}" for method, reason in results["skipped"].items()]
    lines += [f"degraded: {says}" for says in results["degraded"]]
    return lines


def _main_table(results: Results, methods: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    ks: list[int] = results["settings"]["k"]
    names = [*(f"recall@{k}" for k in ks), f"recall_all@{max(ks)}", f"ndcg@{max(ks)}", "mrr"]
    rows = [
        [method, str(found["questions"]), *(_cell(found, name) for name in names), _milliseconds(found)]
        for method, found in methods.items()
    ]
    return ["method", "questions", *names, "ms (median)"], rows


def _more_tables(results: Results, name: str, methods: Mapping[str, Any]) -> list[Table]:
    depth = f"recall@{max(results['settings']['k'])}"
    tables: list[Table] = []
    types = sorted({kind for found in methods.values() for kind in found["by_type"]})
    first = next(iter(methods.values()))
    headings = [f"{kind} ({first['by_type'][kind]['questions']})" for kind in types]
    if len(types) > 1:
        rows = [
            [method, *(_cell(found["by_type"][kind], depth) for kind in types)] for method, found in methods.items()
        ]
        tables.append((f"{depth} by type of question", ["method", *headings], rows))
    compared = results["comparisons"].get(name, {})
    if compared:
        rows = [[method, _signed(one[depth]), f"{one[depth]['p']:.4f}"] for method, one in compared.items()]
        against = next(iter(compared.values()))["against"]
        tables.append((f"{depth} against {against}, paired", ["method", "difference", "p"], rows))
        if len(types) > 1:
            rows = [
                [method, *(_signed(one["by_type"][kind][depth]) for kind in types)] for method, one in compared.items()
            ]
            tables.append((f"{depth} against {against}, paired, by type of question", ["method", *headings], rows))
    return tables


def _density_tables(results: Results) -> list[Table]:
    depth = f"recall@{max(results['settings']['k'])}"
    tables: list[Table] = []
    for name, ways in results.get("density", {}).items():
        for way, sizes in ways.items():
            methods = list(next(iter(sizes.values())))
            rows = [
                [f"{int(size):,}", *(_cell(found[method], depth) for method in methods)]
                for size, found in sizes.items()
            ]
            tables.append((f"Density of {name}, {way}: {depth}", ["utterances", *methods], rows))
    return tables


def sensitivity_tables(results: Results) -> list[Table]:
    """A table for each set: recall of every method by δ and γ; none without a study of these."""
    depth = f"recall@{max(results['settings']['k'])}"
    points = results.get("sensitivity", [])
    if not points:
        return []
    return [
        (
            f"δ and γ, {name}: {depth}",
            ["δ", "γ", *methods],
            [
                [
                    f"{point['delta']:g}", f"{point['gamma']:g}",
                    *(_cell(point["data"][name][method], depth) for method in methods),
                ]
                for point in points
            ],
        )
        for name, methods in points[0]["data"].items()
    ]  # fmt: skip


def _aside(methods: Mapping[str, Any]) -> str:
    found = next(iter(methods.values()))
    aside = [f"{count} {reason.replace('_', ' ')}" for reason, count in found["set_aside"].items() if count]
    failed = [f"{method}: {len(one['failed'])}" for method, one in methods.items() if one["failed"]]
    parts = [f"Not in these numbers: {', '.join(aside)}." if aside else "No question was set aside."]
    if failed:
        parts.append(f"Questions that failed and count 0: {', '.join(failed)}.")
    return " ".join(parts)


def _cell(found: Mapping[str, Any], name: str) -> str:
    if found[name] is None:
        return "–"
    low, high = found["ci95"][name]
    return f"{100 * found[name]:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def _signed(one: Mapping[str, float]) -> str:
    return f"{100 * one['difference']:+.1f} [{100 * one['low']:+.1f}, {100 * one['high']:+.1f}]"


def _milliseconds(found: Mapping[str, Any]) -> str:
    return "–" if found["milliseconds_p50"] is None else f"{found['milliseconds_p50']:.0f}"


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    rule = "| --- " + "| ---: " * (len(columns) - 1) + "|"
    return [line(columns), rule, *map(line, rows)]


def _html_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in columns)
    lines = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"


def _bars(methods: Mapping[str, Any], name: str) -> str:
    """A bar for each method with its interval, from 0 to 100 %."""
    shown = [(method, found) for method, found in methods.items() if found[name] is not None]
    height = _ROW * len(shown) + 8
    parts: list[str] = []
    for place, (method, found) in enumerate(shown):
        top = _ROW * place + 4
        low, high = found["ci95"][name]
        middle = top + _ROW / 2 - 2
        parts.append(
            f'<text x="{_LEFT - 8}" y="{middle + 5}" text-anchor="end">{escape(method)}</text>'
            f'<rect x="{_LEFT}" y="{top}" width="{_BAR * found[name]:.1f}" height="{_ROW - 6}" fill="{_COLOURS[0]}"/>'
            f'<line x1="{_LEFT + _BAR * low:.1f}" x2="{_LEFT + _BAR * high:.1f}" y1="{middle}" y2="{middle}" '
            'stroke="#222" stroke-width="2"/>'
            f'<text x="{_LEFT + _BAR + 12}" y="{middle + 5}">{escape(_cell(found, name))}</text>'
        )
    return _svg(f"{name} of each method", height, parts)


def _curves(sizes: Mapping[str, Mapping[str, Any]], name: str) -> str:
    """A line for each method over the sizes, evenly spaced, with intervals."""
    labels = list(sizes)
    methods = list(next(iter(sizes.values())))
    bottom, top, left, right = _PLOT_HEIGHT - 30, 12, 50, 440
    step = (right - left) / max(1, len(labels) - 1)
    parts: list[str] = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = bottom - share * (bottom - top)
        parts.append(f'<line x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 8}" y="{y + 5:.1f}" text-anchor="end">{100 * share:.0f}</text>')
    for place, label in enumerate(labels):
        x = left + place * step
        parts.append(f'<text x="{x:.1f}" y="{bottom + 20}" text-anchor="middle">{int(label):,}</text>')
    for number, method in enumerate(methods):
        colour = _COLOURS[number % len(_COLOURS)]
        points: list[str] = []
        for place, label in enumerate(labels):
            found = sizes[label][method]
            if found[name] is None:
                continue
            x = left + place * step + 3 * number
            low, high = (bottom - end * (bottom - top) for end in found["ci95"][name])
            points.append(f"{x:.1f},{bottom - found[name] * (bottom - top):.1f}")
            parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}" stroke="{colour}"/>')
        parts.append(f'<polyline points="{" ".join(points)}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{right + 30}" y="{top + 12 + 18 * number}" fill="{colour}">{escape(method)}</text>')
    return _svg(f"{name} over the size of the memory", max(_PLOT_HEIGHT, 18 * len(methods) + 20), parts)


def _svg(title: str, height: int, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" font-size="13" role="img">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )
