"""What experiments found, as Markdown: a section each, and one table of all claims."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from weir.metrics.lab import sections
from weir.metrics.lab.catalogue import EXPERIMENTS
from weir.metrics.lab.experiment import Experiment
from weir.metrics.lab.lab import Lab
from weir.metrics.lab.outcome import ComparedFigure, ExperimentResult, cell

CLAIMS = "experiments"


def write_report(lab: Lab, path: Path, only: Sequence[str] = ()) -> list[str]:
    """Write the sections of what was found, and the table of claims; the names written."""
    found = {e.name: r for e in EXPERIMENTS if (r := lab.result(e.name)) is not None}
    wanted = [e for e in EXPERIMENTS if e.name in found and (not only or e.name in only)]
    for described in wanted:
        result = found[described.name]
        sections.write(described.name, command(result), section_text(described, result), path)
    rows = [(e, found[e.name]) for e in EXPERIMENTS if e.name in found]
    sections.write(CLAIMS, "weir experiment report", claims_text(rows), path)
    return [e.name for e in wanted]


def command(result: ExperimentResult) -> str:
    """What gives this result."""
    return f"weir experiment run {result.name}{' --quick' if result.quick else ''}"


def claims_text(rows: Sequence[tuple[Experiment, ExperimentResult]]) -> str:
    """One line per claim."""
    lines = sections.table(
        ("experiment", "paper", "where", "claim", "how", "size", "verdict"),
        [
            (e.name, e.paper.value, e.where, e.published, e.how.value,
             "quick" if r.quick else "full", r.outcome.verdict.words)
            for e, r in rows
        ],
    )  # fmt: skip
    return f"The papers' claims and what became of them here; a section below for each.\n\n{lines}"


def section_text(described: Experiment, result: ExperimentResult) -> str:
    """All of one experiment."""
    outcome, size = result.outcome, described.size(result.quick)
    when = datetime.fromtimestamp(result.at, UTC)
    parts = [
        f"{described.paper.citation}: {described.where}. {described.question}",
        f"**Published:** {described.published}",
        f"**Here: {outcome.verdict.words.lower()}.** {outcome.reason}",
        f"{described.how.words} Size: {size.words}. {result.machine}, {when:%Y-%m-%d}, "
        f"{result.took_s:.0f} s.",
    ]
    if outcome.numbers:
        rows = [(n.name, number_words(n), n.published or "-") for n in outcome.numbers]
        parts.append(sections.table(("figure", "ours", "published"), rows))
    for table in outcome.tables:
        parts += [f"### {table.title}", sections.table(table.header, table.rows)]
    if outcome.runs:
        parts.append(f"Runs to replay: {', '.join(outcome.runs)}.")
    return "\n\n".join(parts)


def number_words(number: ComparedFigure) -> str:
    """A figure with its unit.

    >>> number_words(ComparedFigure(name="moved", ours=5.894, unit="%"))
    '5.89 %'
    """
    return f"{cell(number.ours)}{' ' + number.unit if number.unit else ''}"
