"""Sections of RESULTS.md replace themselves and nothing else."""

from benchmarks import report


def test_a_section_replaces_itself_and_leaves_the_others(tmp_path):
    path = tmp_path / "RESULTS.md"
    report.write("one", "make one", "first \\1 text", path)
    report.write("two", "make two", "other", path)
    report.write("one", "make one", "second", path)
    text = path.read_text()
    assert "first" not in text
    assert text.index("second") < text.index("other")
    assert "Made by `make two`." in text
    assert not list(tmp_path.glob("*.lock"))
