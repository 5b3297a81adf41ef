"""What the control of the clusters stands at, as the pages know it."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from weir.controllers.engine.guard.modes import strictest_mode
from weir.controllers.engine.guard.rules import EngineSettings
from weir.controllers.engine.judge.verification import TrackRecord
from weir.controllers.engine.recommendation import Recommendation
from weir.controllers.model.sample import Mode
from weir.controllers.service import Paused


class Control(Struct, frozen=True, kw_only=True):
    """Recommendations, modes, and what is stopped."""

    recommendations: tuple[Recommendation, ...] = ()  # newest first
    modes: Mapping[str, Mode] = {}
    settings: EngineSettings = EngineSettings()
    paused: Paused | None = None
    tracks: Mapping[str, TrackRecord] = {}  # how actions on a cluster turned out
    waits: Mapping[str, str] = {}  # why the scaler of a cluster asks for nothing
    fetched: Recommendation | None = None  # an older one, for its own page

    @property
    def known(self) -> tuple[Recommendation, ...]:
        """All that are known here, each once."""
        if self.fetched is None or any(r.id == self.fetched.id for r in self.recommendations):
            return self.recommendations
        return (*self.recommendations, self.fetched)

    def recommendation(self, recommendation_id: str) -> Recommendation | None:
        """The recommendation of that id, if it is known here."""
        return next((r for r in self.known if r.id == recommendation_id), None)

    def mode(self, *clusters: str) -> Mode:
        """How much a cluster lets the engine do; of several, the strictest."""
        return strictest_mode(self.modes, clusters)

    def advice_only(self, clusters: Iterable[str]) -> bool:
        """Whether what the engine says about these clusters cannot be approved."""
        return self.mode(*clusters).advice_only
