"""The wheel in an environment of its own: the command, the demonstration, and `attach`."""

import json
import os
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.support.processes import ROOT, stop
from tests.support.waiting import wait_until
from weir.pipeline.local.ports import free_port
from weir.pipeline.local.process import die_with_parent

WORLD = "a Spark of its own"

LEFT_OUT = (".git", ".venv", "build", "dist", "runs", "checkpoints", ".weir")


def left_out(folder: str, names: list[str]) -> set[str]:
    """What a build does not need, and what lies about at the top of a checkout."""
    top = set(LEFT_OUT) & set(names) if Path(folder) == ROOT else set()
    return top | {n for n in names if n in ("node_modules", "__pycache__") or n.endswith("_cache")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("wheel") / "a folder with spaces"


@pytest.fixture(scope="module")
def installed(folder: Path) -> Path:
    """The `bin` of a fresh environment that has the wheel and what the demonstration needs."""
    shutil.copytree(ROOT, folder / "source", symlinks=True, ignore=left_out)
    run(sys.executable, "-m", "build", "-w", "-n", "-o", folder / "dist", folder / "source")
    (wheel,) = (folder / "dist").glob("weir-*.whl")
    run(sys.executable, "-m", "venv", folder / "env")
    # The versions of this environment, which were fetched before; compiled when imported.
    (folder / "versions.txt").write_text(
        run(sys.executable, "-m", "pip", "freeze", "--exclude", "weir")
    )
    install = ("-m", "pip", "install", "-q", "--no-compile", "-c", folder / "versions.txt")
    run(folder / "env/bin/python", *install, f"weir[demo] @ {wheel.as_uri()}")
    return folder / "env" / "bin"


def run(*words: object) -> str:
    done = subprocess.run(
        [str(w) for w in words], env=clean(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def clean() -> dict[str, str]:
    """Without what leads back to this checkout."""
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}


def test_nothing_of_a_users_driver_is_shadowed(installed: Path, folder: Path) -> None:
    job = folder / "job"
    (job / "components").mkdir(parents=True)
    (job / "components" / "__init__.py").write_text("MINE = True\n")
    (job / "metrics.py").write_text("MINE = True\n")
    (job / "job.py").write_text(
        "import json, sys\n"
        "import components, metrics\n"
        "from weir import attach\n"
        "heavy = sorted({'dash', 'plotly', 'numba', 'scipy'} & set(sys.modules))\n"
        "print(json.dumps([components.MINE, metrics.MINE, callable(attach), heavy]))\n"
    )
    assert json.loads(run(installed / "python", job / "job.py")) == [True, True, True, []]
    site = next((folder / "env" / "lib").glob("python*/site-packages"))
    names = {p.name for p in site.iterdir()}
    assert not names & {"metrics", "components", "controllers", "pipeline", "commands", "assets"}


def test_the_demonstration_comes_up(installed: Path, folder: Path) -> None:
    port = free_port()
    words = [str(installed / "weir"), "demo", "--port", str(port), "--runs", str(folder / "runs")]
    log = folder / "demo.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            words, cwd=folder, env=clean(), stdout=out, stderr=out, preexec_fn=die_with_parent
        )

    def healthy() -> bool:
        assert process.poll() is None, log.read_text()[-3000:]
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
                return bool(json.load(answer)["status"] == "ok")
        except OSError:
            return False

    try:
        wait_until(healthy, 400, "the pages are well")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) == 0, log.read_text()[-3000:]
    finally:
        stop(process)
