"""Traces: the formats that people have, and a sentence for those that are wrong."""

import gzip

import pytest

from weir.controllers.model import trace
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.settings import build
from weir.controllers.simulator import Scenario, Trace, read_trace, world_of


@pytest.mark.parametrize(
    "text",
    [
        "time,rate\n0,10\n300,20\n600,30\n",
        "timestamp,value\n2015-02-26 21:42:53,10\n2015-02-26 21:47:53,20\n2015-02-26 21:52:53,30\n",
        "date,messages\n2019-07-01T00:00:00Z,10\n2019-07-01T00:05:00Z,20\n2019-07-01T00:10:00Z,30\n",
        "timestamp,workRate,thrRate\n1641387000,10,\n1641387300,20,5\n1641387600,30,6\n",
        "Rate,Time\n10,1641387000000\n20,1641387300000\n30,1641387600000\n",
        "timestamp,anything\n0,10\n300,20\n450,\n600,30\n\n",
        "\ufefftime,rate\r\n0,10\r\n300,20\r\n600,30\r\n",
    ],
)
def test_reads(text: str) -> None:
    for raw in (text.encode(), gzip.compress(text.encode())):
        trace = read_trace(raw)
        assert trace.rows_per_s == (10.0, 20.0, 30.0)
        assert trace.step_s == 300.0


def test_reads_the_column_asked_for() -> None:
    assert read_trace(b"time,rate,other\n0,1,5\n1,2,6\n", "other").rows_per_s == (5.0, 6.0)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "no column 'time'"),
        (b"a,b\n1,2\n", "no column 'time'"),
        (b"time\n1\n2\n", "no column with a rate"),
        (b"time,rate\n", "0 lines with a time and a rate"),
        (b"time,rate\n0,1\n", "1 lines with a time and a rate"),
        (b"time,rate\n0,1\n1,-5\n", "line 3 has a rate of -5"),
        (b"time,rate\n0,1\n1,many\n", "line 3 has a rate of 'many'"),
        (b"time,rate\n0,1\n1,inf\n", "line 3 has a rate of inf"),
        (b"time,rate\n0,1\nyesterday,5\n", "line 3 has a time of 'yesterday'"),
        (b"time,rate\n0,1\nnan,5\n", "line 3 has a time of 'nan'"),
        (b"time,rate\n5,1\n5,2\n", "line 3 is not later"),
        (b"rate,time\n5\n", "line 2 has no time"),
        (b"time,rate\n0,0\n1,0\n", "every rate in it is 0"),
        (b"time,rate\n0,1\n1,1e308\n", "line 3 has a rate of 1e+308"),
        (b"time,rate\n0,1\n1,5e-324\n", "line 3 has a rate of 4.94066e-324"),
        (b"time,rate\n0,1\n1e300,5\n", "line 3 has a time of '1e300', which no calendar has"),
        (b"time,rate\n0,1\n1," + b"9" * 200_000, "line 3 cannot be read (field larger"),
        (b"\x1f\x8bdamaged", "gzipped, but damaged"),
        (b"\xff\xfe\x00", "not a text file"),
    ],
)
def test_says_what_is_wrong(raw: bytes, said: str) -> None:
    with pytest.raises(InvalidInput) as error:
        read_trace(raw)
    assert error.value.field == "trace"
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_column_is_guessed_only_where_there_is_one() -> None:
    with pytest.raises(InvalidInput, match="name the one that holds the rate, of host, cpu"):
        read_trace(b"time,host,cpu\n0,1,5\n1,2,6\n")
    named = read_trace(b"time,host,Rate\n0,1,5\n1,2,6\n")
    assert (named.rows_per_s, named.column, named.others) == ((5.0, 6.0), "Rate", ("host",))


def test_what_unpacks_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "MOST_BYTES", 10_000)
    text = b"time,rate\n0,1\n1,2\n"
    for raw in (text + b"\n" * 10_000, gzip.compress(text + b"\n" * 10_000)):
        with pytest.raises(InvalidInput, match="more than 0 MiB"):
            read_trace(raw)
    assert read_trace(gzip.compress(text)).rows_per_s == (1.0, 2.0)


def test_rows_are_the_same_at_any_period() -> None:
    trace = Trace(times=(0.0, 100.0, 130.0, 200.0), rows_per_s=(10.0, 0.0, 50.0, 20.0))
    for period_s in (7.0, 30.0, 100.0):
        world = world_of(trace, build(Scenario, {"period_s": period_s, "cost_s_per_row": 0.01}))
        rows = sum(r * period_s for r in world.operators[0].rows_per_s)
        end = world.ends[-1]
        expected = 10 * 100 + 50 * 70 + 20 * (end - 200)
        assert rows == pytest.approx(expected)


def test_the_default_cost_fills_most_of_the_cluster_in_the_busiest_time() -> None:
    trace = Trace(times=tuple(float(i) for i in range(100)), rows_per_s=tuple(range(100)))
    world = world_of(trace, Scenario(max_executors=5, cores_per_executor=2))
    assert 99 * world.operators[0].cost_s_per_row[0] == pytest.approx(8.0)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"min_executors": "5", "max_executors": "3"}, "min_executors must not be above"),
        ({"cost_s_per_row": "inf"}, "cost_s_per_row: .* 1000000"),
        ({"cost_s_per_row": "1e-320"}, "cost_s_per_row must be 0 or at least 1e-12"),
        ({"period_s": "1e300"}, "period_s: .* 86400"),
        ({"max_rows": "1" + "0" * 30}, "max_rows"),
        ({"trigger_s": "-1"}, "trigger_s"),
    ],
)
def test_scenarios_are_checked(given: dict[str, str], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        build(Scenario, given)
