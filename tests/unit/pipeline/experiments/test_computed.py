"""The computed experiments on the smallest sizes that still show their point."""

from weir.controllers.scaling.drs.allocate import assign_processors
from weir.metrics.lab.outcome import ClaimVerdict
from weir.pipeline.experiments import albic_drain, dodo_ring, drs_table_2


def test_a_ring_moves_few_keys_and_modulo_most() -> None:
    found = dodo_ring.moved(8, 4000)
    assert 0.07 < found["ring"] < 0.16
    assert found["modulo"] > 0.8
    rows = {str(n): {**found, "nodes": n, "ring": 1 / (n + 1)} for n in dodo_ring.NODES}
    assert dodo_ring.conclude(True, rows).verdict is ClaimVerdict.REPRODUCED
    rows["16"]["ring"] = 0.5
    assert dodo_ring.conclude(True, rows).verdict is ClaimVerdict.NOT


def test_the_integrated_plan_is_good_before_the_other_is_drained() -> None:
    ours = albic_drain.drained(1, 0, albic_drain.integrated, nodes=12)
    theirs = albic_drain.drained(1, 0, albic_drain.drain_first, nodes=12)
    assert 0 < ours["good"] < theirs["good"]
    assert theirs["empty"] > 0


def test_one_small_group_does_not_keep_a_node_alive() -> None:
    """On this instance the last group stayed for ever: its move was always worth more elsewhere."""
    found = albic_drain.drained(1, 2, albic_drain.integrated)
    assert found["empty"] < albic_drain.PERIODS


def test_the_printed_algorithm_and_ours_agree_where_its_formula_holds() -> None:
    network = drs_table_2.video(1.0)
    printed = drs_table_2.literal(network, 24, drs_table_2.printed_sojourn_s)
    assert printed == assign_processors(network, 24).processors
    assert printed == drs_table_2.literal(network, 24, drs_table_2.summed_sojourn_s)
