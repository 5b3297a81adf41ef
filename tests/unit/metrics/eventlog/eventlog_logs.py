"""Small event logs made for the tests: lines as Spark writes them, and ways to pack them."""

import gzip
import io
import json
import zipfile
from typing import Any

import lz4.block
import lz4.frame
import pyarrow
import zstandard

from weir.metrics.eventlog.parser import Parser
from weir.metrics.eventlog.run import SampleBuilder
from weir.metrics.eventlog.summary import Tally

T0 = 1_700_000_000_000  # ms; a multiple of the period of 10 s
PREFIX = "org.apache.spark.sql.streaming.StreamingQueryListener$"
QUERY = "8d268dc2-bc9c-4be8-97a9-b135d2943028"


def event(kind, /, **fields):
    body = {"Event": kind} | {key.replace("_", " "): value for key, value in fields.items()}
    return json.dumps(body, separators=(",", ":")).encode()


def app_start(id="app-1", name="demo", attempt=None, at=T0):
    more = {} if attempt is None else {"App Attempt ID": attempt}
    return event(
        "SparkListenerApplicationStart", **{"App Name": name, "App ID": id, **more}, Timestamp=at
    )


def app_end(at=T0 + 60_000):
    return event("SparkListenerApplicationEnd", Timestamp=at)


def log_start(version="4.0.0"):
    return event("SparkListenerLogStart", Spark_Version=version)


def executor_added(id, at=T0, cores=2):
    info = {"Host": f"host-{id}", "Total Cores": cores}
    return event(
        "SparkListenerExecutorAdded", Timestamp=at, **{"Executor ID": id, "Executor Info": info}
    )


def executor_removed(id, at, reason="Executor killed by driver."):
    return event(
        "SparkListenerExecutorRemoved",
        Timestamp=at,
        **{"Executor ID": id, "Removed Reason": reason},
    )


def stage(id, query=None, name="count at Jobs.scala:17"):
    properties = {"sql.streaming.queryId": query} if query else {}
    info = {"Stage ID": id, "Stage Name": name}
    return event("SparkListenerStageSubmitted", **{"Stage Info": info}, Properties=properties)


def task_start(id, stage=0, executor="1", launch=T0):
    info = {"Task ID": id, "Launch Time": launch, "Executor ID": executor}
    return event("SparkListenerTaskStart", **{"Stage ID": stage, "Task Info": info})


def task_end(id, stage=0, executor="1", launch=T0, run=500, finish=None, reason="Success", rows=0):
    info = {
        "Task ID": id,
        "Launch Time": launch,
        "Executor ID": executor,
        "Finish Time": launch + run if finish is None else finish,
    }
    metrics = {
        "Executor Run Time": run,
        "Executor CPU Time": run * 500_000,
        "Input Metrics": {"Bytes Read": 0, "Records Read": rows},
    }
    fields = {"Stage ID": stage, "Task End Reason": {"Reason": reason}, "Task Info": info}
    return event("SparkListenerTaskEnd", **fields, **{"Task Metrics": metrics})


def query_started(id=QUERY, run="run-1", name="words", at="2023-11-14T22:13:20.000Z"):
    return event(PREFIX + "QueryStartedEvent", id=id, runId=run, name=name, timestamp=at)


def query_terminated(id=QUERY, run="run-1", exception=None):
    return event(PREFIX + "QueryTerminatedEvent", id=id, runId=run, exception=exception)


def progress(
    batch,
    second,
    rows,
    took=1000,
    id=QUERY,
    run="run-1",
    name="words",
    end=None,
    latest=None,
    observed=None,
):
    source = {"description": "KafkaV2[Subscribe[tweets]]", "numInputRows": rows}
    if end is not None:
        source |= {"endOffset": json.dumps({"tweets": {"0": end}})}
        source |= {"latestOffset": json.dumps({"tweets": {"0": latest}})}
    return event(
        PREFIX + "QueryProgressEvent",
        progress={
            "id": id, "runId": run, "name": name, "batchId": batch,
            "timestamp": f"2023-11-14T22:{13 + (20 + second) // 60:02}:{(20 + second) % 60:02}.000Z",
            "durationMs": {"triggerExecution": took} | ({"addBatch": took} if rows else {}),
            "observedMetrics": observed or {},
            "stateOperators": [{"numRowsTotal": 7, "memoryUsedBytes": 900}],
            "sources": [source],
            "sink": {"description": "FileSink[file:/out]"},
        },
    )  # fmt: skip


def batch_log(tasks=20):
    """A whole log of a batch application with one executor."""
    ends = [task_end(i, launch=T0 + 1000 * i) for i in range(tasks)]
    return [log_start(), executor_added("1"), app_start(), stage(0), *ends, app_end()]


def text(lines):
    return b"".join(line + b"\n" for line in lines)


def lz4_blocks(data, size=8000):
    """As net.jpountz.lz4.LZ4BlockOutputStream writes it; the checksum is not looked at."""
    out = []
    for i in range(0, len(data), size):
        plain = data[i : i + size]
        packed = lz4.block.compress(plain, store_size=False)
        method = 0x20 if len(packed) < len(plain) else 0x10
        body = packed if method == 0x20 else plain
        out += [_block_head(method, len(body), len(plain)), body]
    return b"".join([*out, _block_head(0x10, 0, 0)])


def _block_head(method, stored, plain):
    numbers = b"".join(n.to_bytes(4, "little") for n in (stored, plain, 0))
    return b"LZ4Block" + bytes([method | 6]) + numbers


def snappy_blocks(data, size=8000):
    out = [b"\x82SNAPPY\0" + (1).to_bytes(4, "big") * 2]
    for i in range(0, len(data), size):
        body = pyarrow.compress(data[i : i + size], "snappy", asbytes=True)
        out += [len(body).to_bytes(4, "big"), body]
    return b"".join(out)


def zipped(members, method=zipfile.ZIP_DEFLATED, seekable=True):
    """`seekable=False` puts the sizes behind the data, as a server that streams does."""
    buffer = io.BytesIO()
    target = buffer if seekable else _Stream(buffer)
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


class _Stream(io.RawIOBase):
    def __init__(self, buffer):
        self._buffer = buffer

    def writable(self):
        return True

    def write(self, data):
        return self._buffer.write(data)


def zstd_frames(data):
    """Two frames, one after the other."""
    compress = zstandard.ZstdCompressor().compress
    return compress(data[:700]) + compress(data[700:])


PACKED = {
    "plain": lambda data: data,
    "gzip": gzip.compress,
    "gzip members": lambda data: gzip.compress(data[:700]) + gzip.compress(data[700:]),
    "zstd": zstandard.ZstdCompressor().compress,
    "zstd frames": zstd_frames,
    "lz4 frame": lz4.frame.compress,
    "lz4 block": lz4_blocks,
    "snappy": snappy_blocks,
    "zip": lambda data: zipped({"app-1": data}),
    "zip stored": lambda data: zipped({"app-1": data}, zipfile.ZIP_STORED),
    "zip streamed": lambda data: zipped({"app-1": data}, seekable=False),
    "zip of gzip": lambda data: zipped({"app-1.gz": gzip.compress(data)}),
}


def folded(lines, **options):
    """(summary, samples) of these lines."""
    parser, tally, builder = Parser(), Tally(), SampleBuilder(**options)
    samples: list[Any] = []
    for line in lines:
        event = parser.parse(line)
        if event is not None:
            tally.add(event)
            builder.add(event)
            samples += builder.ripe()
    return tally.summary, samples + list(builder.rest())


def stream_log(batches=12, queue=None):
    """One query, a batch of 100 rows each 5 s, 2 s of task time in each."""
    lines = [log_start(), executor_added("1"), app_start(), query_started()]
    for n in range(batches):
        at = T0 + 5000 * n
        lines += [stage(n, QUERY), task_start(n, n, launch=at)]
        lines.append(task_end(n, n, launch=at, run=2000))
        end = {"end": 100 * n, "latest": 100 * n + queue * n} if queue else {}
        lines.append(progress(n, 5 * n, 100, took=2000, **end))
    return [*lines, app_end(T0 + 5000 * batches)]
