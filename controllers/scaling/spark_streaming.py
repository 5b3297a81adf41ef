"""Spark's own streaming allocation, the baseline that people know from DStreams."""

from math import floor
from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.model.decision import Decision
from weir.controllers.model.settings import setting
from weir.controllers.model.words import percent, span
from weir.controllers.scaling.answers import because, cannot_tell, not_now, scale_to, stay
from weir.controllers.scaling.base import Memory, Scaler
from weir.controllers.scaling.facts import ClusterFacts


class SparkStreamingSettings(Struct, frozen=True, kw_only=True):
    """The settings of spark.streaming.dynamicAllocation."""

    scaling_interval_s: Annotated[float, setting("Time between decisions", ge=1, unit="s")] = 60.0
    scaling_up_ratio: Annotated[
        float, setting("Scale out at or above this share of the batch interval", ge=0, unit="share")
    ] = 0.9
    scaling_down_ratio: Annotated[
        float, setting("Scale in at or below this share of the batch interval", ge=0, unit="share")
    ] = 0.3
    batch_interval_s: Annotated[
        float,
        setting("Interval for operators that trigger as soon as they can", ge=0.001, unit="s"),
    ] = 10.0

    def __post_init__(self) -> None:
        if self.scaling_down_ratio >= self.scaling_up_ratio:
            raise ValueError("scaling_down_ratio must be below scaling_up_ratio")


class BatchRatios(Struct, frozen=True):
    """The batches of one operator since the last decision."""

    ratio_sum: float = 0.0
    count: int = 0
    last_id: int = -1


class SparkStreamingMemory(Memory, frozen=True, kw_only=True):
    """Batches seen, by operator, and when to decide next."""

    batches: dict[str, BatchRatios] = {}
    next_at: float | None = None


class SparkStreaming(Scaler[SparkStreamingSettings, SparkStreamingMemory]):
    """Once per interval: ratio = mean processing time / batch interval.

    At or above the upper ratio it adds max(round(ratio), 1) executors, at or below
    the lower one it removes one. Operators of a cluster run side by side, so the
    one with the highest ratio decides.

    Reference: org.apache.spark.streaming.scheduler.ExecutorAllocationManager.

    >>> SparkStreamingSettings().scaling_up_ratio, SparkStreamingSettings().scaling_down_ratio
    (0.9, 0.3)
    """

    name = "spark_streaming"
    title = "Spark's streaming allocation"
    settings_type = SparkStreamingSettings
    memory_type = SparkStreamingMemory

    def judge(
        self, facts: ClusterFacts, memory: SparkStreamingMemory, now: float
    ) -> tuple[Decision, SparkStreamingMemory]:
        """Collect batches; decide once per interval."""
        s = self.settings
        memory = self._collect(facts, memory)
        if memory.next_at is None:
            memory = replace(memory, next_at=now + s.scaling_interval_s)
        assert memory.next_at is not None
        if now < memory.next_at:
            left = memory.next_at - now
            return not_now(
                f"The next decision is due in {span(left)}.", "now < next", left_s=left
            ), memory
        ratios = [b.ratio_sum / b.count for b in memory.batches.values() if b.count]
        kept = {n: BatchRatios(last_id=b.last_id) for n, b in memory.batches.items()}
        memory = replace(memory, batches=kept, next_at=now + s.scaling_interval_s)
        if not ratios:
            return cannot_tell("No batch has ended since the last decision.", "no batches"), memory
        ratio = max(ratios)
        up, down = s.scaling_up_ratio, s.scaling_down_ratio
        told = f"Batches take {percent(ratio)} of their interval"
        if ratio >= up:
            more = max(floor(ratio + 0.5), 1)  # rounds halves up, as Java does
            reason = because(
                f"{told}, at least {percent(up)}.",
                "ratio >= up",
                batch_share=ratio,
                up_share=up,
                more=more,
            )
            return scale_to(facts, facts.executors + more, reason), memory
        if ratio <= down:
            reason = because(
                f"{told}, at most {percent(down)}.",
                "ratio <= down",
                batch_share=ratio,
                down_share=down,
            )
            return scale_to(facts, facts.executors - 1, reason), memory
        return stay(
            f"{told}.", "down < ratio < up", batch_share=ratio, up_share=up, down_share=down
        ), memory

    def _collect(self, facts: ClusterFacts, memory: SparkStreamingMemory) -> SparkStreamingMemory:
        batches: dict[str, BatchRatios] = {}
        for operator in facts.operators:
            seen = memory.batches.get(operator.name, BatchRatios())
            batch = -1 if operator.batch_id is None else operator.batch_id
            # Without a batch id every period counts; with one, every batch counts once.
            if operator.processing_s is not None and (batch < 0 or batch != seen.last_id):
                interval_s = operator.trigger_s or self.settings.batch_interval_s
                seen = BatchRatios(
                    seen.ratio_sum + operator.processing_s / interval_s, seen.count + 1, batch
                )
            batches[operator.name] = seen
        return replace(memory, batches=batches)
