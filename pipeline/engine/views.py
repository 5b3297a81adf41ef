"""What only a leader writes, kept in its memory."""

from collections.abc import Iterable

from weir.controllers.engine.apply.effects import Chain, KeepBalance, KeepScaling
from weir.controllers.engine.propose.outlook import Outlook
from weir.controllers.engine.propose.scaling import ScaleOutlook


class Views:
    """What a leader wrote last: nobody else writes it, so it need not be read again."""

    def __init__(
        self,
        token: int = -1,
        scaling: dict[str, ScaleOutlook] | None = None,
        balance: Outlook | None = None,
    ) -> None:
        self.token = token
        self.scaling = scaling or {}
        self.balance = balance

    def note(self, chains: Iterable[Chain]) -> None:
        """Remember the views among what was just carried out."""
        for effect in (e for chain in chains for e in chain):
            if isinstance(effect, KeepScaling):
                self.scaling[effect.outlook.cluster] = effect.outlook
            elif isinstance(effect, KeepBalance):
                self.balance = effect.outlook
