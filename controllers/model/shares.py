"""What each operator gets of its cluster's cores while they are contended (DRS's k_i).

Weights are kept in the settings `shares:CLUSTER`; a host gives every operator a FAIR pool of its
own. In Spark a weight only breaks ties among tasks that wait, and on few cores there are hardly
any ties; what takes hold is a pool's least share, a number of cores that it gets before others do.
So the cores are dealt out in proportion to the weights, and both are set.
"""

from collections.abc import Mapping
from enum import StrEnum
from math import floor
from typing import Annotated

from msgspec import Struct

from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.settings import setting

MOST_WEIGHT = 1000


class ShareSource(StrEnum):
    """Who says what the weights are."""

    MODEL = "model"
    HAND = "hand"


class ShareSettings(Struct, frozen=True, kw_only=True):
    """How the operators of one cluster share its cores; the group is named by `share_group`."""

    source: Annotated[
        ShareSource, setting("Weights by the model, or those that a person chose")
    ] = ShareSource.MODEL
    weights: Annotated[
        str, setting("Weights that hold, as a=4, b=1; an operator that is not named has 1")
    ] = ""
    least_gain: Annotated[
        float,
        setting(
            "Least share of the latency that other weights must save", ge=0, le=1, unit="share"
        ),
    ] = 0.1
    rest_s: Annotated[float, setting("Least time between two changes", ge=0, unit="s")] = 60.0

    @property
    def by_operator(self) -> dict[str, int]:
        """The weights; none where they cannot be read."""
        try:
            return read_weights(self.weights)
        except InvalidInput:
            return {}


def share_group(cluster: str) -> str:
    """Name of the settings of a cluster's shares."""
    return f"shares:{cluster}"


def read_weights(text: str) -> dict[str, int]:
    """Weights from text.

    >>> read_weights("count=4, rank=1")
    {'count': 4, 'rank': 1}
    >>> read_weights("count=0")
    Traceback (most recent call last):
    weir.controllers.model.errors.InvalidInput: count: a weight is a whole number from 1 to 1000
    """
    found = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, is_pair, value = part.rpartition("=")
        if not is_pair or not name.strip():
            raise InvalidInput(f"'{part}' is not of the form operator=weight", field="weights")
        found[name.strip()] = weight(name.strip(), value.strip())
    return found


def weight(name: str, value: object) -> int:
    """One weight, if it is one."""
    text = str(value)
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MOST_WEIGHT:
        raise InvalidInput(
            f"{name}: a weight is a whole number from 1 to {MOST_WEIGHT}", field="weights"
        )
    return int(text)


def weights_text(weights: Mapping[str, int]) -> str:
    """The same as text.

    >>> weights_text({"rank": 1, "count": 4})
    'count=4, rank=1'
    """
    return ", ".join(f"{name}={value}" for name, value in sorted(weights.items()))


def deal(weights: Mapping[str, int], total: int) -> dict[str, int]:
    """Whole cores dealt out in proportion to the weights, the largest remainders up.

    >>> deal({"a": 1, "b": 4}, 4), deal({"a": 1, "b": 1}, 3)
    ({'a': 1, 'b': 3}, {'a': 2, 'b': 1})
    """
    sum_ = sum(weights.values())
    if not sum_:
        return {}
    exact = {name: total * value / sum_ for name, value in weights.items()}
    found = {name: floor(value + 1e-9) for name, value in exact.items()}
    order = sorted(exact, key=lambda name: (found[name] - exact[name], name))
    for name in order[: total - sum(found.values())]:
        found[name] += 1
    return found


def first_cores(weights: Mapping[str, int], cores: int) -> dict[str, int]:
    """Cores that come to each before others. None where all weigh alike, nor where one would
    have none of its own: it would wait for all others.

    >>> first_cores({"a": 1, "b": 4}, 4), first_cores({"a": 1, "b": 4}, 2)
    ({'a': 1, 'b': 3}, {'a': 0, 'b': 0})
    """
    found = deal(weights, cores)
    alike = len(set(weights.values())) < 2
    return dict.fromkeys(weights, 0) if alike or 0 in found.values() else found
