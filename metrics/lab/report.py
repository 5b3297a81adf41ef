"""What experiments found, as Markdown: a section each, and one table of all claims."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from weir.metrics.lab import sections
from weir.metrics.lab.catalogue import EXPERIMENTS, experiment
from weir.metrics.lab.experiment import Experiment
from weir.metrics.lab.lab import Lab
from weir.metrics.lab.outcome import ComparedFigure, Conclusion, ExperimentResult, cell

CLAIMS = "experiments"
_HEADER = ("experiment", "paper", "where", "published", "here", "how", "size", "verdict")


def write_report(lab: Lab, path: Path, only: Sequence[str] = ()) -> list[str]:
    """Write the sections of what was found, and the table of claims; the names written.

    What the table says of others stays: its row is that of the section which is there.
    """
    found = {e.name: r for e in EXPERIMENTS if (r := lab.result(e.name)) is not None}
    wanted = [e for e in EXPERIMENTS if e.name in found and (not only or e.name in only)]
    for described in wanted:
        result = found[described.name]
        sections.write(described.name, command(result), section_text(described, result), path)
    before = path.read_text() if path.exists() else ""
    written = {e.name: claim_of(e.name, found[e.name]) for e in wanted}
    claims = {**claims_in(before), **written}
    sections.write(CLAIMS, "weir experiment report", claims_text(claims), path)
    return [e.name for e in wanted]


def command(result: ExperimentResult) -> str:
    """What gives this result."""
    return f"weir experiment run {result.name}{' --quick' if result.quick else ''}"


def claim_of(name: str, result: ExperimentResult) -> tuple[str, ...]:
    """A row of the table of claims."""
    e = experiment(name)
    return (
        e.name, e.paper.value, e.where, e.published, first_words(result.outcome), e.how.value,
        "quick" if result.quick else "full", result.outcome.verdict.words,
    )  # fmt: skip


def claims_in(document: str) -> dict[str, tuple[str, ...]]:
    """The rows of the table of claims that a file has, by experiment."""
    _, _, rest = document.partition(f"<!-- begin: {CLAIMS} -->")
    lines = rest.partition(f"<!-- end: {CLAIMS} -->")[0].splitlines()
    rows = [tuple(line.strip("| ").split(" | ")) for line in lines if line.startswith("| ")]
    return {row[0]: row for row in rows if len(row) == len(_HEADER) and row != _HEADER}


def claims_text(claims: Mapping[str, tuple[str, ...]]) -> str:
    """One line per claim, in the papers' order."""
    rows = [claims[e.name] for e in EXPERIMENTS if e.name in claims]
    return (
        "The papers' claims and what became of them here; a section below for each.\n\n"
        f"{sections.table(_HEADER, rows)}"
    )


def section_text(described: Experiment, result: ExperimentResult) -> str:
    """All of one experiment."""
    outcome = result.outcome
    when = datetime.fromtimestamp(result.at, UTC)
    parts = [
        f"{described.paper.citation}: {described.where}. {described.question}",
        f"**Published:** {described.published}",
        f"**Here: {outcome.verdict.words.lower()}.** {outcome.reason}",
        f"{described.how.words} {described.ran_words(result.quick)} {result.machine}, {when:%Y-%m-%d}, "
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


def first_words(outcome: Conclusion) -> str:
    """The first figure, for a table of claims."""
    if not outcome.numbers:
        return ""
    first = outcome.numbers[0]
    return f"{first.name}: {number_words(first)}"
