"""What executors on other machines are sent."""

import subprocess
import sys
import zipfile

from weir.pipeline.hosts.session import pack


def test_weir_is_whole_in_the_file_that_spark_sends(tmp_path):
    """What tasks use of it can be imported from the file alone."""
    file = pack(tmp_path)
    assert "weir/pipeline/edges/source.py" in zipfile.ZipFile(file).namelist()
    code = (
        "import weir.pipeline.edges.source as s, weir.pipeline.workloads.top_n; print(s.__file__)"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env={"PYTHONPATH": str(file), "PATH": "/bin"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
    assert str(file) in said.stdout
