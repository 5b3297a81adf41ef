"""Which scaler would have served a cluster best so far, in a sentence."""

from collections.abc import Sequence

from weir.components.live.world import World
from weir.components.pages.scale.view import outlook_of, settings_of, title_of
from weir.components.ui import text
from weir.controllers.engine.propose.scorecard import HORIZON_S, Score
from weir.controllers.model.words import are

FEWEST = 5
"""A record of fewer judgements says nothing."""


def served(world: World, cluster: str) -> str:
    """The best record of all scalers, beside that of the followed one."""
    view = outlook_of(world, cluster)
    scores = view.scores if view else ()
    return served_text(scores, settings_of(world, cluster).scaler)


def served_text(scores: Sequence[Score], followed: str) -> str:
    """The sentence.

    >>> served_text([Score(scaler="drs", judged=3, right=3)], "drs")[:49]
    'Which scaler serves this cluster best is not know'
    """
    known = [s for s in scores if s.judged >= FEWEST]
    if not known:
        most = max((s.judged for s in scores), default=0)
        return (
            "Which scaler serves this cluster best is not known yet: every answer is compared with "
            f"what was needed {text.seconds(HORIZON_S)} later, which takes {FEWEST} comparisons "
            f"to say anything; there {are(most)} {most or 'none'} so far."
        )
    best = max(known, key=lambda s: (_share(s), s.saved_executor_s, s.scaler == followed))
    own = next((s for s in known if s.scaler == followed), None)
    said = (
        f"{title_of(best.scaler)} would have served this cluster best so far: {_record(best)} "
        "its number of executors was enough and at most one too many"
    )
    if own is None:
        return f"{said}{_saving(best)}."
    if own.scaler == best.scaler:
        return f"{said}. It is the one that the engine follows."
    if _share(own) == _share(best):
        return (
            f"{said}, as often as {title_of(own.scaler)}, which the engine follows{_saving(best)}."
        )
    return (
        f"{said}{_saving(best)}; {title_of(own.scaler)}, which the engine follows: {_record(own)}."
    )


def _share(score: Score) -> float:
    return score.right_share or 0.0


def _record(score: Score) -> str:
    return f"{score.right} of {text.plural(score.judged, 'time')}"


def _saving(score: Score) -> str:
    """What it would have taken less or more than was there."""
    hours = score.saved_executor_s / 3600
    if abs(hours) < 0.05:
        return ""
    way = "fewer" if hours > 0 else "more"
    return f", with {text.amount(abs(hours))} executor-hours {way} than there were"
