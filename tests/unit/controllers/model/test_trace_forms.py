"""Traces as they are found: other separators, other names of columns, other clocks."""

from pathlib import Path

import pytest

from weir.controllers.model.errors import InvalidInput
from weir.controllers.simulator import read_trace

BESIDE = (folder / "shared" / "data" / "traces" for folder in Path(__file__).parents[4:7])
SHARED = sorted(path for folder in BESIDE for path in folder.glob("*.csv*"))


@pytest.mark.parametrize(
    "text",
    [
        "date;messages\n2019-07-01 00:00:00;10\n2019-07-01 00:05:00;20\n2019-07-01 00:10:00;30\n",
        "timestamp|value\n1661724000|10\n1661724300|20\n1661724600|30\n",
        "ts\tn\n1661724000000\t10\n1661724300000\t20\n1661724600000\t30\n",
        "Period;Host;Events\n2020-01-01T00:00Z;a;10\n2020-01-01T00:05Z;a;20\n2020-01-01T00:10Z;a;30\n",
        "epoch_us,rows\n1661724000000000,10\n1661724300000000,20\n1661724600000000,30\n",
        "epoch,rows\n1661724000000000000,10\n1661724300000000000,20\n1661724600000000000,30\n",
        "1661724000 , 10\n1661724300 , 20\n1661724600 , 30\n",
        "2020-01-01 00:00,10\n2020-01-01 00:05,20\n2020-01-01 00:10,30\n",
        "# exported by hand\n# unit: rows/s\ntime;rate\n0;10,0\n300;20,0\n600;3e1\n",
        "# time,rate\n0,10\n300,20\n600,30\n",
        '"time","rate"\n"0","10"\n"300","20"\n"600","30"\n',
        "period,n\n31/12/2019 23:55,10\n01/01/2020 00:00,20\n01/01/2020 00:05,30\n",
        "period,n\n12/31/2019 23:55,10\n01/01/2020 00:00,20\n01/01/2020 00:05,30\n",
        "host,time,users,region\na,0,10,x\na,300,20,x\na,600,30,y\n",
        "t_s,value\n0,10\n300,20\n400,n/a\n500,-\n600,30\n",
    ],
)
def test_reads_what_people_have(text: str) -> None:
    trace = read_trace(text.encode())
    assert trace.rows_per_s == (10.0, 20.0, 30.0)
    assert trace.step_s == 300.0


def test_a_clock_is_one_for_the_whole_file() -> None:
    """The first 17 minutes of the epoch in milliseconds are not seconds."""
    early = read_trace(b"epoch_ms,rate\n200000000000,1\n200000060000,2\n")
    assert early.step_s == 60.0


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"when;rate\n0;1\n1;2\n", "no column 'time'"),
        (b"time;rate\n0;1\nsoon;2\n", "line 3 has a time of 'soon', neither a date"),
        (b"# nothing but a comment\n", "no column 'time'"),
        (b"time|rate\n0|1\n\n\n1|many\n", "line 5 has a rate of 'many'"),
    ],
)
def test_says_where_it_is_wrong(raw: bytes, said: str) -> None:
    with pytest.raises(InvalidInput, match=said.replace("|", r"\|")):
        read_trace(raw)


@pytest.mark.skipif(not SHARED, reason="the shared traces are not here")
@pytest.mark.parametrize("path", SHARED, ids=lambda p: p.name)
def test_reads_every_shared_trace(path: Path) -> None:
    trace = read_trace(path.read_bytes())
    assert len(trace.times) > 5000
    assert trace.step_s in (1.0, 300.0)
    assert trace.column in ("value", "messages", "workRate")
