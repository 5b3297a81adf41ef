"""Modes of a cluster in words, and the track record that justifies a step up."""

from collections.abc import Iterable

from weir.components.live.world import World
from weir.components.ui import text
from weir.components.ui.figure import Figure
from weir.components.ui.figure import Figures as Live
from weir.controllers.engine.judge.verification import TrackRecord
from weir.controllers.model.sample import Mode

LABELS = {
    Mode.OBSERVE: "Observe",
    Mode.RECOMMEND: "Recommend",
    Mode.APPROVE: "Approve",
    Mode.AUTO_WITHIN_CRITERIA: "Auto within criteria",
    Mode.AUTO: "Auto",
}
MEANINGS = {
    Mode.OBSERVE: "Only watched: nothing is proposed and nothing is done.",
    Mode.RECOMMEND: "Advice only: the engine says what it would do; people do it by hand or not.",
    Mode.APPROVE: "The engine proposes; a proposal is carried out once somebody approves it.",
    Mode.AUTO_WITHIN_CRITERIA: "What fits this cluster's criteria is carried out without asking; "
    "all else waits for approval.",
    Mode.AUTO: "Everything that the guards let through is carried out without asking.",
}
_STATES = {Mode.OBSERVE: "off", Mode.AUTO: "warn", Mode.AUTO_WITHIN_CRITERIA: "warn"}
AUTOMATIC = (Mode.AUTO_WITHIN_CRITERIA, Mode.AUTO)
ENOUGH = 5
"""Fewer judged actions than this say little."""
GOOD_SHARE = 0.8


def record_words(track: TrackRecord) -> str:
    """The track record in one or two sentences.

    >>> record_words(TrackRecord(judged=5, effective=4, error_share=0.12, calibration=0.9))
    '4 of 5 judged actions were effective; predictions were off by 12 % (median).'
    >>> record_words(TrackRecord())
    'No action here has been judged yet.'
    """
    if not track.judged:
        return "No action here has been judged yet."
    verb = "was" if track.effective == 1 else "were"
    said = f"{track.effective} of {text.plural(track.judged, 'judged action')} {verb} effective"
    if track.error_share is not None:
        said += f"; predictions were off by {text.share(track.error_share)} (median)"
    return f"{said}."


def step_up(mode: Mode, track: TrackRecord) -> str:
    """What the track record says about giving the engine more freedom."""
    if mode not in AUTOMATIC:
        return ""
    if track.judged < ENOUGH:
        return f"Fewer than {ENOUGH} actions were judged: there is little to go by yet."
    if track.effective_share < GOOD_SHARE:
        return "Fewer than four in five actions were effective: better not yet."
    return "The track record supports it."


def record(world: World, cluster: str) -> TrackRecord:
    """How the actions on a cluster turned out."""
    return world.control.tracks.get(cluster, TrackRecord())


def mode_figures(world: World, names: Iterable[str]) -> Live:
    """The present mode of clusters, for their buttons."""
    return {
        f"mode/{name}": Figure(LABELS[mode], _STATES.get(mode, ""))
        for name in names
        if (mode := world.control.mode(name))
    }
