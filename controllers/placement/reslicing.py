"""Other owners for the key groups of an operator: each function answers the next `Slicing`.

    first       a number of slices, by weight, each an arc of its own
    one_more    a slice joins and takes its share from all: about K / (N + 1) keys move
    one_fewer   a slice leaves, and its key groups go to those that have too few
    join        a new slice joins half-way between a slice and its neighbour
    hand_over   key groups go from their owner to another slice
    take_over   the clockwise neighbour takes the whole token

No key group is ever lost or owned twice, and a slice owns at least one.
"""

from collections.abc import Iterable, Mapping
from math import fsum

from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.slicing import GROUPS, MOST_GROUPS, Slicing, slice_name
from weir.controllers.placement.ring import Arc, Ring, owner_by_group

Rates = Mapping[int, float]
"""What each key group weighs, e.g. its rows per second."""


def first(
    operator: str, slices: int, groups: int = GROUPS, weights: Mapping[str, float] | None = None
) -> Slicing:
    """The slicing that an operator begins with.

    >>> first("count", 3, groups=8).owners
    {'count.0': (0, 1, 2), 'count.1': (3, 4, 5), 'count.2': (6, 7)}
    """
    if not 1 <= slices <= groups:
        raise InvalidInput(f"{operator} can have 1 to {groups} slices, not {slices}", "slices")
    names = [slice_name(operator, index) for index in range(slices)]
    owners, begin = {}, 0
    for name, count in quotas(names, groups, weights).items():
        owners[name] = tuple(range(begin, begin + count))
        begin += count
    return Slicing(operator=operator, groups=groups, owners=owners, born=dict.fromkeys(owners, 1))


def one_more(slicing: Slicing, weights: Mapping[str, float] | None = None) -> Slicing:
    """One more slice; nothing moves but to it.

    >>> after = one_more(first("count", 3, groups=8))
    >>> after.owners["count.3"], moved_share(first("count", 3, groups=8), after)
    ((2, 5), 0.25)
    """
    _room(slicing)
    name = slicing.next_name()
    wanted = quotas([*slicing.owners, name], slicing.groups, weights)
    owners = {n: list(owned) for n, owned in slicing.owners.items()}
    taken: list[int] = []
    ring = Ring(slicing)
    order = {n: [g for a in ring.arcs_of(n) for g in a.key_groups] for n in owners}
    while len(taken) < wanted[name]:
        giver = max(owners, key=lambda n: (len(owners[n]) - wanted[n], n))
        group = order[giver].pop()  # from its clockwise end, so that what stays is one arc
        owners[giver].remove(group)
        taken.append(group)
    return slicing.resliced({**owners, name: taken})


def one_fewer(
    slicing: Slicing, leaves: str | None = None, weights: Mapping[str, float] | None = None
) -> Slicing:
    """One slice fewer, the last one unless said; nothing moves but from it.

    >>> one_fewer(first("count", 3, groups=8)).owners
    {'count.0': (0, 1, 2, 6), 'count.1': (3, 4, 5, 7)}
    """
    name = leaves or max(slicing.owners, key=_index)
    if name not in slicing.owners:
        raise InvalidInput(f"there is no slice {name}", field="slice")
    stay = {n: list(owned) for n, owned in slicing.owners.items() if n != name}
    if not stay:
        raise InvalidInput(f"{slicing.operator} has one slice only", field="slices")
    wanted = quotas(stay, slicing.groups, weights)
    left = [g for arc in Ring(slicing).arcs_of(name) for g in arc.key_groups]
    for taker in sorted(stay, key=lambda n: len(stay[n]) - wanted[n]):
        lack = max(0, wanted[taker] - len(stay[taker]))
        stay[taker] += left[:lack]
        left = left[lack:]
    for group in left:  # others have more than their share already
        stay[min(stay, key=lambda n: len(stay[n]) - wanted[n])].append(group)
    return slicing.resliced(stay)


def resize(slicing: Slicing, slices: int, weights: Mapping[str, float] | None = None) -> Slicing:
    """This number of slices, by as many joins or leaves as it takes, as one step.

    >>> len(resize(first("count", 2), 5).owners), resize(first("count", 2), 5).generation
    (5, 2)
    """
    if not 1 <= slices <= slicing.groups:
        raise InvalidInput(
            f"{slicing.operator} can have 1 to {slicing.groups} slices, not {slices}", "slices"
        )
    after = slicing
    while len(after.owners) < slices:
        after = one_more(after, weights)
    while len(after.owners) > slices:
        after = one_fewer(after, weights=weights)
    return after if after is slicing else slicing.resliced(after.owners)


def half_of(arc: Arc, rates: Rates | None = None, *, most: float | None = None) -> tuple[int, ...]:
    """The clockwise half of an arc, by distance or, with rates, by what they weigh.

    At least one key group stays. With `most`, what is taken weighs at most that much.

    >>> arc = Ring(first("c", 2, groups=12)).arcs[0]
    >>> half_of(arc), half_of(arc, {5: 9.0, 0: 1.0}), half_of(arc, {5: 9.0, 4: 1.0}, most=8.0)
    ((3, 4, 5), (5,), ())
    """
    weigh = [1.0 if rates is None else max(0.0, rates.get(g, 0.0)) for g in arc.key_groups]
    half, taken = fsum(weigh) / 2, 0.0
    count = 0
    for weight in reversed(weigh[1:]):
        over = taken + weight
        if most is not None and over > most:
            break
        if count and abs(over - half) > abs(taken - half):
            break
        taken, count = over, count + 1
        if taken >= half:
            break
    return arc.key_groups[len(arc.key_groups) - count :]


def join(slicing: Slicing, giver: str, rates: Rates | None = None) -> Slicing:
    """A new slice joins half-way between a slice and its clockwise neighbour.

    >>> join(first("count", 2, groups=8), "count.0").owners
    {'count.0': (0, 1), 'count.1': (4, 5, 6, 7), 'count.2': (2, 3)}
    """
    _room(slicing)
    arc = Ring(slicing).main_arc(giver)
    if arc is None:
        raise InvalidInput(f"there is no slice {giver}", field="slice")
    taken = half_of(arc, rates)
    if not taken:
        raise InvalidInput(f"{giver} has one key group only, which cannot be split", field="slice")
    new = slicing.next_name()
    return slicing.resliced({**_without(slicing, taken), new: taken})


def take_over(slicing: Slicing, leaver: str) -> Slicing:
    """The clockwise neighbour takes the whole token of a slice, which leaves the ring.

    >>> take_over(first("count", 2, groups=4), "count.0").owners
    {'count.1': (0, 1, 2, 3)}
    """
    taker = Ring(slicing).neighbour(leaver)
    if taker is None or taker == leaver:
        raise InvalidInput(f"{leaver} has no neighbour", field="slice")
    owners = dict(slicing.owners)
    owners[taker] = (*owners[taker], *owners.pop(leaver))
    return slicing.resliced(owners)


def hand_over(slicing: Slicing, groups: Iterable[int], taker: str) -> Slicing:
    """Key groups go to another slice; a slice that has none left is dropped.

    >>> hand_over(first("count", 2, groups=4), [1], "count.1").owners
    {'count.0': (0,), 'count.1': (1, 2, 3)}
    """
    wanted = tuple(dict.fromkeys(groups))
    if taker not in slicing.owners:
        raise InvalidInput(f"there is no slice {taker}", field="slice")
    known = owner_by_group(slicing)
    for group in wanted:
        if not 0 <= group < slicing.groups:
            raise InvalidInput(
                f"{slicing.operator} has key groups 0 to {slicing.groups - 1}, not {group}",
                field="groups",
            )
    fresh = [g for g in wanted if known[g] != taker]
    if not fresh:
        raise InvalidInput(f"{taker} has these key groups already", field="groups")
    owners = _without(slicing, fresh)
    owners[taker] = (*owners.get(taker, ()), *fresh)
    return slicing.resliced(owners)


def moved_share(before: Slicing, after: Slicing) -> float:
    """The share of the keys whose owner changes."""
    old, new = owner_by_group(before), owner_by_group(after)
    return sum(a != b for a, b in zip(old, new, strict=True)) / before.groups


def quotas(
    names: Iterable[str], groups: int, weights: Mapping[str, float] | None = None
) -> dict[str, int]:
    """How many key groups each slice should have: by weight, at least one, `groups` in all.

    >>> quotas(["a", "b", "c"], 8, {"a": 2.0})
    {'a': 4, 'b': 2, 'c': 2}
    """
    found = {name: (weights or {}).get(name, 1.0) for name in names}
    for name, weight in found.items():
        if not 0.0 < weight < float("inf"):
            raise InvalidInput(f"the weight of {name} must be above 0", field="weight")
    total = fsum(found.values())
    exact = {name: groups * weight / total for name, weight in found.items()}
    counts = {name: max(1, int(share)) for name, share in exact.items()}
    while sum(counts.values()) < groups:
        counts[max(exact, key=lambda n: exact[n] - counts[n])] += 1
    while sum(counts.values()) > groups:  # as every slice has at least one
        counts[min((n for n in exact if counts[n] > 1), key=lambda n: exact[n] - counts[n])] -= 1
    return counts


def _index(name: str) -> int:
    tail = name.rpartition(".")[2]
    return int(tail) if tail.isdigit() else -1


def _room(slicing: Slicing) -> None:
    if len(slicing.owners) >= slicing.groups:
        raise InvalidInput(
            f"{slicing.operator} has {slicing.groups} key groups and cannot have more slices",
            field="slices",
        )


def _without(slicing: Slicing, groups: Iterable[int]) -> dict[str, tuple[int, ...]]:
    gone = set(groups)
    return {n: tuple(g for g in owned if g not in gone) for n, owned in slicing.owners.items()}


def wanted_slicing(
    slicing: Slicing, *, slices: int | None = None, groups: Iterable[int] = (), to: str = ""
) -> Slicing:
    """What a person asked for: a number of slices, or key groups handed to a slice, perhaps a new
    one.

    >>> two = first("count", 2, groups=4)
    >>> wanted_slicing(two, groups=(1,), to="count.2").owners
    {'count.0': (0,), 'count.1': (2, 3), 'count.2': (1,)}
    >>> len(wanted_slicing(two, slices=3).owners)
    3
    """
    wanted = tuple(groups)
    if (slices is None) == (not wanted):
        raise InvalidInput("Say how many slices, or which key groups go to which slice.", "slices")
    if slices is not None:
        after = resize(slicing, slices)
        if after is slicing:
            many = "slice" if slices == 1 else "slices"
            raise InvalidInput(f"{slicing.operator} has {slices} {many} already", field="slices")
        return after
    if not to:
        raise InvalidInput("Say which slice the key groups go to.", field="to")
    if to != slicing.next_name():
        return hand_over(slicing, wanted, to)
    if not set(wanted) <= set(range(slicing.groups)):
        raise InvalidInput(
            f"{slicing.operator} has key groups 0 to {slicing.groups - 1}", field="groups"
        )
    return slicing.resliced({**_without(slicing, wanted), to: wanted})


def read_groups(text: str) -> tuple[int, ...]:
    """Key groups as people write them.

    >>> read_groups("0-2, 7"), read_groups("")
    ((0, 1, 2, 7), ())
    >>> read_groups("7-x")
    Traceback (most recent call last):
    weir.controllers.model.errors.InvalidInput: '7-x' is no key group, nor a range such as 0-7
    """
    found: list[int] = []
    for part in filter(None, (p.strip() for p in text.split(","))):
        begin, dash, end = (p.strip() for p in part.partition("-"))
        if not (begin.isdecimal() and (end.isdecimal() or not dash) and len(part) <= 11):
            raise InvalidInput(f"'{part}' is no key group, nor a range such as 0-7", "groups")
        last = int(end) if dash else int(begin)
        if last > MOST_GROUPS:
            raise InvalidInput(f"there is no key group {last}", field="groups")
        found += range(int(begin), last + 1)
    return tuple(dict.fromkeys(found))
