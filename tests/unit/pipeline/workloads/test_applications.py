"""What the applications of the papers are made of, without Spark."""

from collections import Counter

import pyarrow as pa
import pytest

from weir.pipeline.workloads.airline_weather import expected as with_weather
from weir.pipeline.workloads.application import applications
from weir.pipeline.workloads.edits import EAST, NORTH, SOUTH, WEST, geohash, place_of
from weir.pipeline.workloads.flights import (
    AIRPORTS,
    DAY_ROWS,
    ROUTES_OF_PLANE,
    flights,
    flights_and_weather,
)
from weir.pipeline.workloads.movies import expected
from weir.pipeline.workloads.wikipedia import _locate


@pytest.mark.parametrize("name", sorted(applications()))
def test_another_skew_makes_other_rows_of_the_same_kind(name: str) -> None:
    found = applications()[name]
    own = found.rows(0, 200, found.skew).to_pylist()
    other = found.rows(0, 200, found.skew + 0.7).to_pylist()
    assert own != other
    assert found.expected(own)
    assert found.expected(other)
    assert found.rows(0, 0, found.skew).to_pylist() == []


def test_two_movies_are_as_similar_as_they_have_fans_in_common() -> None:
    pairs = expected(["1,7,5", "1,8,4", "1,8,5", "2,7,4", "2,8,4", "2,9,5", "3,9,3", "3,7,5"])
    assert pairs == {"7/8": 2, "8/7": 2, "7/9": 1, "9/7": 1, "8/9": 1, "9/8": 1}


def test_edits_are_all_over_denmark_and_stay_where_they_are() -> None:
    places = [place_of(editor, 100) for editor in range(500)]
    assert all(SOUTH <= lat <= NORTH and WEST <= lon <= EAST for lat, lon in places)
    cells = Counter(geohash(*place) for place in places)
    assert len(cells) > 50
    assert max(cells.values()) < 500 / 10
    edits = pa.record_batch({"ts": [1.0, 2.0], "text": ["a,editor-3,100", "b,editor-3,100"]})
    (located,) = _locate(0.0, "wait")(iter([edits]))
    assert located.to_pydict()["article"] == ["a", "b"]
    assert set(located.to_pydict()["cell"]) == {geohash(*place_of(3, 100))}


def test_delays_are_summed_by_plane_route_and_rain() -> None:
    rows = ["W,0,AAA,60", "F,0,N001,AAA,AAB,5", "F,0,N001,AAA,AAB,7", "F,0,N002,AAC,AAA,-3",
            "F,365,N001,AAC,AAA,9"]  # fmt: skip
    assert with_weather(rows) == {
        "plane N001 2004": 12, "plane N001 2005": 9, "route AAA-AAB": 12, "route AAC-AAA": 9,
        "rain 50-60": 12,
    }  # fmt: skip


def test_every_day_begins_with_the_weather_of_every_airport() -> None:
    rows = flights_and_weather(0, 2 * DAY_ROWS).to_pylist()
    reports = [row.split(",") for row in rows if row.startswith("W")]
    assert Counter(day for _, day, *_ in reports) == {"0": AIRPORTS, "1": AIRPORTS}
    assert len({place for _, _, place, _ in reports}) == AIRPORTS
    assert {row.split(",")[3] for row in rows if row.startswith("F")} <= {r[2] for r in reports}
    routes = Counter(",".join(row.split(",")[2:5]) for row in flights(0, 20_000).to_pylist())
    assert max(Counter(route[:4] for route in routes).values()) <= ROUTES_OF_PLANE
