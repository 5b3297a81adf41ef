"""SMR's checkpoints: what is read from the files, and a verdict that follows the figures."""

from pathlib import Path

from weir.metrics.lab.outcome import ClaimVerdict
from weir.pipeline.experiments import smr_checkpoints as smr


def found(share: float, drift: float = 1.0):
    """Every interval's checkpoints are that share per second, the last one the whole state."""

    def sizes(interval_s: int) -> list[float]:
        first = 1000.0 * share * interval_s
        return [900.0, *(first * (drift if k >= 6 else 1.0) for k in range(8)), 1000.0]

    row = {"commit_ms": [1.0] * 10, "words": smr.WORDS}
    return {f"every-{i}": {**row, "bytes": sizes(i)} for i in smr.INTERVALS_S}


def test_the_verdict_follows_the_sizes() -> None:
    assert smr.conclude(True, found(0.03)).verdict is ClaimVerdict.REPRODUCED
    assert smr.conclude(True, found(0.03, drift=2.0)).verdict is ClaimVerdict.PARTLY
    assert smr.conclude(True, found(0.0)).verdict is not ClaimVerdict.REPRODUCED
    assert smr.conclude(True, found(0.03)).numbers[0].ours == 6.0


def test_a_version_is_not_taken_for_one_that_begins_like_it(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "0" / "1"
    folder.mkdir(parents=True)
    for name, size in (
        ("1.changelog", 3),
        ("1_ab.changelog", 4),
        ("10.changelog", 50),
        ("1.zip", 9),
    ):
        (folder / name).write_bytes(b"x" * size)
    assert smr.changelog_bytes(tmp_path, 1) == 7


def test_the_input_begins_and_ends_with_every_word(tmp_path: Path, monkeypatch) -> None:
    import pyarrow.parquet as pq

    monkeypatch.setattr(smr, "WORDS", 50)
    monkeypatch.setattr(smr, "ROWS_PER_S", 10)
    smr.written(tmp_path / "rows", 2, batches=3)
    files = sorted((tmp_path / "rows").iterdir())
    words = [pq.read_table(f)["word"].to_pylist() for f in files]
    assert [len(w) for w in words] == [50, 20, 20, 20, 50]
    assert len(set(words[0])) == len(set(words[-1])) == 50
