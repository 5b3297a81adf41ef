"""The pages of an operator that runs as slices."""

from msgspec.structs import replace

from tests.support.world import demo_world
from weir.components.live.world import World, world_of
from weir.components.pages.operator.page import page_of
from weir.components.pages.operator.slices import slices_of
from weir.components.ui.path import Place
from weir.components.ui.trees import as_json
from weir.controllers.model.sample import ClusterSample
from weir.controllers.model.slicing import Slicing

SLICING = Slicing.even("topic_count", 3, groups=8)


def replaced(world: World, samples: list[ClusterSample]) -> World:
    """The same moment with other reports."""
    return world_of({s.cluster.name: [s] for s in samples}, at=world.at)


def texts(tree: object) -> str:
    """All that a page shows."""
    return as_json(tree).decode()


def sliced_world() -> World:
    """The demo, with topic_count in three slices."""
    world = demo_world()
    samples = []
    for sample in (s[-1] for s in world.series.values()):
        operators = []
        for one in sample.operators:
            if one.name != "topic_count":
                operators.append(one)
                continue
            operators += [
                replace(
                    one, name=name, slice_of="topic_count", key_groups=SLICING.groups_of(name),
                    state_rows=1000 + i,
                )
                for i, name in enumerate(SLICING.slices)
            ]  # fmt: skip
        samples.append(replace(sample, operators=tuple(operators)))
    return replaced(world, samples)


def test_the_operators_page_lists_all_of_its_slices() -> None:
    world = sliced_world()
    assert [o.name for o in slices_of(world, "topic_count")] == list(SLICING.slices)
    page = page_of(world, Place("operator", "topic_count"), "")
    shown = texts(page.draw(world, page))
    for name in SLICING.slices:
        assert name in shown
    assert "3: 5–7" in shown
    assert page.figures["operator/topic_count.1/slice-state"].text == "1,001 rows"


def test_a_slice_names_its_operator_and_its_siblings() -> None:
    world = sliced_world()
    page = page_of(world, Place("operator", "topic_count.1"), "")
    shown = texts(page.draw(world, page))
    assert "Slice of" in shown
    assert "Slices of topic_count" in shown


def test_an_operator_with_state_that_is_one_query_says_why() -> None:
    world = demo_world()
    found = world.snapshot.operator("topic_count")
    assert found is not None
    world = replaced(
        world,
        [
            replace(
                s[-1],
                operators=tuple(replace(o, unsliced="it declares no key") for o in s[-1].operators),
            )
            for s in world.series.values()
        ],
    )
    page = page_of(world, Place("operator", "topic_count"), "")
    assert "one: it declares no key" in texts(page.draw(world, page))
