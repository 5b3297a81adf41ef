"""The queueing model and its two allocations, against tables and brute force."""

import time
from itertools import product
from math import inf, isfinite

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.examples import examples
from weir.controllers.model.errors import InvalidInput
from weir.controllers.scaling.drs.allocate import assign_processors, min_processors
from weir.controllers.scaling.drs.erlang import erlang_b, erlang_c, least_servers, waiting_s
from weir.controllers.scaling.drs.network import Network, Station, arrival_rates


def chain(*offered: float, external: float = 1.0, variability: float = 1.0) -> Network:
    made = tuple(
        Station(name=f"s{i}", arrivals=a, rate=1.0, ca2=variability, cs2=variability)
        for i, a in enumerate(offered)
    )
    return Network(stations=made, external=external)


class TestErlang:
    # Offered load in erlang at which the blocking is as stated: the classic traffic
    # table, printed to three places.
    @pytest.mark.parametrize(
        ("servers", "offered", "blocked"),
        [
            (2, 0.153, 0.01),
            (5, 1.361, 0.01),
            (10, 4.461, 0.01),
            (20, 12.031, 0.01),
            (100, 84.064, 0.01),
            (10, 6.216, 0.05),
            (50, 44.533, 0.05),
        ],
    )
    def test_blocking_as_in_the_traffic_table(
        self, servers: int, offered: float, blocked: float
    ) -> None:
        below, above = erlang_b(servers, offered - 6e-4), erlang_b(servers, offered + 6e-4)
        assert below <= blocked <= above

    # Closed forms: k = 1: a;  k = 2: a^2 / (2 + a);  k = 3: a^3 / (6 + 4a + a^2).
    @pytest.mark.parametrize("offered", [0.1, 0.25, 0.5, 0.9, 0.999])
    def test_waiting_as_in_the_closed_forms(self, offered: float) -> None:
        a = offered
        assert erlang_c(1, a) == pytest.approx(a, abs=1e-12)
        assert erlang_c(2, a) == pytest.approx(a**2 / (2 + a), abs=1e-12)
        assert erlang_c(3, a) == pytest.approx(a**3 / (6 + 4 * a + a**2), abs=1e-12)

    # Published values of the probability of delay to six places.
    @pytest.mark.parametrize(
        ("servers", "offered", "delayed"),
        [
            (2, 1.0, 0.333333),
            (3, 2.0, 0.444444),
            (4, 3.0, 0.509434),
            (5, 4.0, 0.554113),
            (10, 9.0, 0.668732),
            (20, 18.0, 0.550769),
            (10, 5.0, 0.036105),
        ],
    )
    def test_delay_as_published(self, servers: int, offered: float, delayed: float) -> None:
        assert erlang_c(servers, offered) == pytest.approx(delayed, abs=1e-6)

    @pytest.mark.parametrize(
        ("servers", "offered", "delayed"), [(132, 123.0, 0.3211), (12421, 12345.0, 0.3812)]
    )
    def test_delay_of_large_call_centres(
        self, servers: int, offered: float, delayed: float
    ) -> None:
        assert erlang_c(servers, offered) == pytest.approx(delayed, abs=5e-5)

    def test_agrees_with_exact_fractions(self) -> None:
        from fractions import Fraction
        from math import factorial

        for k in (1, 7, 40, 120):
            a = Fraction(9 * k, 10)
            top = a**k / factorial(k) * Fraction(k) / (k - a)
            exact = top / (sum(a**i / factorial(i) for i in range(k)) + top)
            assert erlang_c(k, float(a)) == pytest.approx(float(exact), rel=1e-12)

    def test_is_stable_for_ten_thousand_servers(self) -> None:
        values = [erlang_c(10_000, 10_000 * rho) for rho in (0.5, 0.9, 0.98, 0.99, 0.999)]
        assert all(isfinite(v) and 0.0 <= v <= 1.0 for v in values)
        assert values == sorted(values)
        # Halfin-Whitt: C -> 1 / (1 + b Phi(b) / phi(b)) with b = (1 - rho) sqrt(k), b = 1 here.
        assert values[3] == pytest.approx(0.2236, abs=0.003)

    def test_an_integer_offered_load_is_no_steady_state(self) -> None:
        """0.3 / 0.1 is 2.9999999999999996: floor + 1 would be 3 servers at a utilisation of 1."""
        assert least_servers(0.3 / 0.1) == 4
        assert waiting_s(3, 0.3, 0.1) == inf
        assert isfinite(waiting_s(4, 0.3, 0.1))

    def test_no_overflow_where_the_printed_formula_has_one(self) -> None:
        with pytest.raises(OverflowError):
            _ = 135.0**150
        assert 0.0 < waiting_s(150, 135.0, 1.0) < 1.0

    def test_variability_multiplies_the_waiting_alone(self) -> None:
        plain = Station(name="a", arrivals=8.0, rate=1.0)
        bursty = Station(name="a", arrivals=8.0, rate=1.0, ca2=5.0, cs2=1.0)
        assert bursty.sojourn_s(9) - 1.0 == pytest.approx(3.0 * (plain.sojourn_s(9) - 1.0))


class TestArrivalRates:
    def test_splits_joins_and_loops(self) -> None:
        rates = arrival_rates(
            ["a", "b", "c"],
            {"a": 10.0},
            {("a", "b"): 0.5, ("a", "c"): 0.5, ("b", "c"): 1.0, ("c", "a"): 0.2},
        )
        assert rates["a"] == pytest.approx(10.0 + 0.2 * rates["c"])
        assert rates["b"] == pytest.approx(0.5 * rates["a"])
        assert rates["c"] == pytest.approx(0.5 * rates["a"] + rates["b"])

    def test_a_loop_that_grows_is_refused(self) -> None:
        with pytest.raises(InvalidInput, match="no steady state"):
            arrival_rates(["a", "b"], {"a": 1.0}, {("a", "b"): 2.0, ("b", "a"): 0.5})

    def test_a_loop_that_nothing_enters_does_no_harm(self) -> None:
        rates = arrival_rates(["a", "b"], {"a": 1.0}, {("b", "b"): 3.0})
        assert rates == {"a": 1.0, "b": 0.0}

    def test_what_feeds_a_loop_and_what_is_behind_it(self) -> None:
        rates = arrival_rates(
            ["d", "c", "b", "a"],
            {"a": 10.0},
            {("a", "b"): 1.0, ("b", "c"): 1.0, ("c", "b"): 0.5, ("c", "d"): 2.0},
        )
        assert rates == pytest.approx({"a": 10.0, "b": 20.0, "c": 20.0, "d": 40.0})

    def test_thousands_in_rows_take_no_time(self) -> None:
        names = [f"{row}-{step}" for row in range(500) for step in range(10)]
        routing = {(f"{r}-{s}", f"{r}-{s + 1}"): 0.5 for r in range(500) for s in range(9)}
        began = time.process_time()
        rates = arrival_rates(names, {f"{r}-0": 1024.0 for r in range(500)}, routing)
        assert rates["7-0"] == 1024.0
        assert rates["499-9"] == 2.0
        assert time.process_time() - began < 1.0

    def test_measured_rates_are_kept_and_passed_on(self) -> None:
        rates = arrival_rates(["a", "b"], {"a": 1.0}, {("a", "b"): 2.0}, known={"a": 7.0})
        assert rates == {"a": 7.0, "b": 14.0}


def brute_force(network: Network, most: int) -> float:
    spaces = [range(s.least, most + 1) for s in network.stations]
    return min(network.sojourn_s(k) for k in product(*spaces) if sum(k) <= most)


networks = st.lists(
    st.tuples(st.floats(0.0, 5.0), st.floats(0.3, 3.0), st.floats(0.1, 4.0), st.floats(0.1, 4.0)),
    min_size=1,
    max_size=3,
).map(
    lambda rows: Network(
        stations=tuple(
            Station(name=str(i), arrivals=a * m, rate=m, ca2=c, cs2=s)
            for i, (a, m, c, s) in enumerate(rows)
        ),
        external=1.0,
    )
)


class TestAllocation:
    @settings(max_examples=examples(60), deadline=None)
    @given(network=networks, extra=st.integers(0, 6))
    def test_assign_equals_brute_force(self, network: Network, extra: int) -> None:
        most = network.least + extra
        found = assign_processors(network, most)
        assert found.total <= most
        best = brute_force(network, most)
        assert network.sojourn_s(found.processors) == pytest.approx(best, rel=1e-9)

    @settings(max_examples=examples(40), deadline=None)
    @given(network=networks, slack=st.floats(1.02, 4.0))
    def test_min_is_enough_and_one_less_is_not(self, network: Network, slack: float) -> None:
        target = network.service_s * slack
        if target <= network.service_s:  # nothing arrives, or so little that it rounds to nothing
            return
        found = min_processors(network, target)
        assert network.sojourn_s(found.processors) <= target * (1 + 1e-9)
        if found.total > network.least:
            fewer = assign_processors(network, found.total - 1)
            assert network.sojourn_s(fewer.processors) > target * (1 - 1e-9)

    def test_exactly_k_max_are_handed_out(self) -> None:
        """Printed with <=, the loop hands out one too many."""
        assert assign_processors(chain(3.0, 4.0, 0.5), 22).total == 22
        assert assign_processors(chain(3.0, 4.0, 0.5), 10).total == 10

    def test_min_skips_no_size(self) -> None:
        """With the printed loop the first size tried after 10 is 12."""
        network = chain(8.0, external=8.0)
        totals = {min_processors(network, t).total for t in (1.9, 1.4, 1.2, 1.1, 1.05)}
        assert {9, 10, 11} <= totals

    def test_too_few_processors_are_refused_with_the_number_needed(self) -> None:
        with pytest.raises(InvalidInput, match="at least 10 are needed"):
            assign_processors(chain(3.0, 4.0, 0.5), 9)

    def test_an_unreachable_time_is_refused_at_once(self) -> None:
        """The bound counts visits: here each row comes by three times, 3 s of work."""
        network = chain(3.0, external=1.0)
        with pytest.raises(InvalidInput, match="cannot be reached, the work itself takes 3 s"):
            min_processors(network, 3.0)
        assert network.sojourn_s(min_processors(network, 3.001).processors) <= 3.001

    def test_processors_that_help_nobody_stay(self) -> None:
        found = assign_processors(chain(0.5, 0.0), 100_000)
        assert found.total < 1_000
        assert found.processors[1] == 1

    def test_differences_of_waiting_do_not_drown(self) -> None:
        """With 1/mu in both terms the gain rounds to 0 and the rest goes to the first station."""
        fast = Station(name="fast", arrivals=100.0, rate=10.0)
        slow = Station(name="slow", arrivals=10.0, rate=1.0)
        network = Network(stations=(fast, slow), external=100.0)
        k = assign_processors(network, 96).processors
        assert abs(k[0] - k[1]) <= 1  # the same offered load, and rows waiting weigh the same

    def test_published_choice_of_twenty_two(self) -> None:
        """A chain shaped like the paper's VLD is given the paper's 10:11:1."""
        vld = Network(
            stations=(
                Station(name="extract", arrivals=13.0, rate=1.9),
                Station(name="match", arrivals=130.0, rate=17.0),
                Station(name="aggregate", arrivals=39.0, rate=150.0),
            ),
            external=13.0,
        )
        assert assign_processors(vld, 22).processors == (10, 11, 1)

    def test_variability_changes_the_choice_of_seven(self) -> None:
        """Bulky arrivals at the second operator turn 3:3:1 into 2:4:1, as in the paper."""

        def vld(ca2: float) -> Network:
            return Network(
                stations=(
                    Station(name="extract", arrivals=5.0, rate=4.0),
                    Station(name="match", arrivals=50.0, rate=28.0, ca2=ca2),
                    Station(name="aggregate", arrivals=15.0, rate=150.0),
                ),
                external=5.0,
            )

        assert assign_processors(vld(1.0), 7).processors == (3, 3, 1)
        assert assign_processors(vld(5.0), 7).processors == (2, 4, 1)
