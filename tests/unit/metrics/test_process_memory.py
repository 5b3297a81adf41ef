"""The collector has little to do where much is kept."""

import ctypes
import gc
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from weir.controllers.model.sample import Batch, Cluster, ClusterSample, Executor, OperatorSample
from weir.controllers.model.snapshot import Edge
from weir.metrics.process_memory import THRESHOLDS, collect_rarely


def test_what_is_kept_by_the_hundred_thousand_is_not_looked_at() -> None:
    sample = ClusterSample(
        at=1.0,
        period_s=2.0,
        cluster=Cluster(name="a"),
        operators=(OperatorSample(name="count", cluster="a", reads=("tweets",)),),
        executors=(Executor(id="1", host="h", cores=1),),
        batches=(Batch(operator="count", id=1, committed_at=1.0, processing_s=0.1, rows=1),),
    )
    edge = Edge(source="a", target="b", dataset="c", rows_per_s=1.0)
    decoded = msgspec.json.decode(msgspec.json.encode(sample), type=ClusterSample)
    for found in (decoded, edge, decoded.cluster, *decoded.operators, *decoded.batches):
        assert not gc.is_tracked(found)


def test_it_looks_less_often_and_leaves_what_was_loaded_alone() -> None:
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    try:
        collect_rarely()
        assert gc.get_threshold() == THRESHOLDS
        assert THRESHOLDS[0] > before[0]
        assert gc.get_freeze_count() > frozen
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


_HEAPS = """
import ctypes, sys, threading
from weir.metrics.process_memory import one_heap

if sys.argv[1] == "one":
    assert one_heap()
together = threading.Barrier(4)

def hold():
    kept = bytearray(4000)
    together.wait()

threads = [threading.Thread(target=hold) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
libc.fopen.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
file = ctypes.c_void_p(libc.fopen(sys.argv[2].encode(), b"w"))
libc.malloc_info(0, file)
libc.fclose(file)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_info"), reason="not the GNU C library")
def test_threads_share_one_heap(tmp_path: Path) -> None:
    def heaps(how: str) -> int:
        told = tmp_path / how
        subprocess.run([sys.executable, "-c", _HEAPS, how, told], check=True, timeout=600)
        return told.read_text().count("<heap nr=")

    assert heaps("each its own") > 1
    assert heaps("one") == 1
