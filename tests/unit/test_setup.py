"""What setup.sh does on machines that lack something; what it would call is made up."""

import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("bash", "dirname", "sed", "head", "cat", "rm", "find", "mkdir", "chmod", "touch")


class Machine:
    """A checkout in a folder with a space in its name, and commands that note their calls."""

    def __init__(self, folder: Path) -> None:
        self.tree, self.bin, self.calls = folder / "my weir", folder / "bin", folder / "calls"
        (self.tree / "controllers").mkdir(parents=True)
        self.bin.mkdir()
        for name in ("setup.sh", "requirements.txt", "requirements-dev.txt", "pyproject.toml"):
            shutil.copy(ROOT / name, self.tree / name)
        for name in TOOLS:
            (self.bin / name).symlink_to(shutil.which(name) or name)
        self.has("id", "echo 1000")
        made = '#!/bin/sh\\necho "venv $*" >> "$CALLS"\\nexit 0\\n'
        self.python = (
            f'case "$*" in *ensurepip*) [ -e "{self.bin}/venv" ]; exit;; '
            f"*venv*) mkdir -p .venv/bin; printf '{made}' > .venv/bin/python; "
            f'chmod +x .venv/bin/python; exit;; *) exec "{sys.executable}" "$@";; esac'
        )
        self.has("python3", self.python)

    def has(self, name: str, does: str) -> None:
        """A command of this machine."""
        (self.bin / name).write_text(f"#!/bin/sh\n{does}\n")
        (self.bin / name).chmod(0o755)

    def set_up(self, *args: str) -> "subprocess.CompletedProcess[str]":
        """Run it."""
        env = {"PATH": str(self.bin), "CALLS": str(self.calls), "HOME": os.environ["HOME"]}
        return subprocess.run(
            ["bash", str(self.tree / "setup.sh"), *args], env=env, capture_output=True, text=True,
            check=False,
        )  # fmt: skip

    def called(self) -> str:
        """What the environment's Python was asked for, since the last time."""
        said = self.calls.read_text() if self.calls.exists() else ""
        self.calls.unlink(missing_ok=True)
        return said


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_all_that_is_missing_is_said_at_once_before_anything_is_downloaded(machine: Machine):
    said = machine.set_up()
    assert said.returncode == 1
    assert "Python's venv module: the package python3." in said.stderr
    assert "Java 17 or later: the package openjdk-17-jre-headless" in said.stderr
    assert "may not install packages" in said.stderr
    assert not (machine.tree / ".venv").exists()


def test_unit_tests_need_no_java(machine: Machine):
    machine.has("venv", "")
    said = machine.set_up("--unit")
    assert said.returncode == 0, said.stderr
    assert "requirements-dev.txt" in machine.called()


def test_an_old_java_is_not_enough(machine: Machine):
    machine.has("venv", "")
    machine.has("java", "echo 'openjdk version \"11.0.2\"' >&2")
    assert "Java 17 or later" in machine.set_up().stderr
    machine.has("java", "echo 'openjdk version \"21.0.2\"' >&2")
    assert machine.set_up().returncode == 0


def test_what_is_half_made_is_made_again_and_what_is_there_is_left_alone(machine: Machine):
    machine.has("venv", "")
    machine.has("java", "echo 'openjdk version \"17.0.1\"' >&2")
    (machine.tree / ".venv" / "bin").mkdir(parents=True)  # by one that was stopped
    assert machine.set_up().returncode == 0
    assert "pip install" in machine.called()
    assert machine.set_up().returncode == 0
    assert "pip install" not in machine.called()


def test_what_tests_need_holds_what_a_run_needs(machine: Machine):
    machine.has("venv", "")
    machine.has("java", "echo 'openjdk version \"17.0.1\"' >&2")
    assert machine.set_up("--unit").returncode == 0
    assert "requirements-dev.txt" in machine.called()
    assert machine.set_up().returncode == 0
    assert "pip install" not in machine.called()


def test_what_set_up_compiles_is_there() -> None:
    imports = re.findall(r"from (weir[\w.]+) import (\w+)", (ROOT / "setup.sh").read_text())
    assert imports
    for module, name in imports:
        assert callable(getattr(importlib.import_module(module), name))
