"""The scripts of `assets/` under Node's own runner: the tests stand in `tests/scripts/`."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = ROOT / "tests" / "scripts"
NODE = shutil.which("node")

pytestmark = [
    pytest.mark.skipif(NODE is None, reason="Node is not there: the scripts are not checked"),
    pytest.mark.skipif(
        not (SCRIPTS / "node_modules").is_dir(),
        reason="Node's packages are not there (./setup.sh --tests): the scripts are not checked",
    ),
]


def run(*argv: str, cwd: Path) -> None:
    env = {k: v for k, v in os.environ.items() if k != "NODE_OPTIONS"}
    done = subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_the_scripts_reckon() -> None:
    run("node", "--test", cwd=SCRIPTS)
