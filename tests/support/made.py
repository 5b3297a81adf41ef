"""What generators make, made again and counted without Spark: what pipelines must end up with."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import redis

from weir.pipeline.edges.stream import EdgeStream
from weir.pipeline.workloads.application import Application
from weir.pipeline.workloads.spells import Spells
from weir.pipeline.workloads.topics import TOPICS, topic_name, topic_numbers
from weir.pipeline.workloads.words import WORDS, word, word_numbers

STEP = 50_000
"""How many rows are made at once."""


def made_texts(client: redis.Redis, application: Application) -> Iterator[str]:
    """Every text that the generator has appended so far."""
    source = application.source
    rows = EdgeStream(client, source.edge, source.shards).totals()[0]
    spells = [*Spells(client, source.edge).all(), (rows, 0.0)]
    for (first, skew), (end, _) in pairwise(spells):
        for at in range(first, min(end, rows), STEP):
            yield from application.rows(at, min(STEP, end - at, rows - at), skew).to_pylist()


def topic_counts(count: int, seed: int = 1) -> dict[str, int]:
    """How often each topic occurs in the first `count` rows."""
    totals = np.zeros(TOPICS, dtype=np.int64)
    for first in range(0, count, 1_000_000):
        numbers = topic_numbers(first, min(1_000_000, count - first), seed=seed)
        totals += np.bincount(numbers, minlength=TOPICS)
    return {topic_name(i): int(n) for i, n in enumerate(totals) if n}


def word_counts(lines: int, seed: int = 1) -> dict[str, int]:
    """How often each word occurs in the first `lines` lines."""
    totals = np.zeros(WORDS, dtype=np.int64)
    for first in range(0, lines, 100_000):
        numbers = word_numbers(first, min(100_000, lines - first), seed=seed)
        totals += np.bincount(numbers.ravel(), minlength=WORDS)
    return {word(i): int(n) for i, n in enumerate(totals) if n}
