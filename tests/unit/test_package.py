"""What is installed with the package, and what each part of it needs."""

import re
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import ROOT
from weir.commands.extras import requirements
from weir.metrics.agent import listener


def test_the_listeners_source_lies_beside_its_module() -> None:
    assert "class Listener" in files(listener).joinpath("Listener.java").read_text("utf-8")


ALONE = """
import importlib, sys
from importlib.abc import MetaPathFinder

absent = set(sys.argv[1].split())

class Absent(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.split(".")[0] in absent:
            raise ModuleNotFoundError(f"{name} is not installed", name=name)

sys.meta_path.insert(0, Absent())
"""
LOAD = """
for module in sys.argv[2:]:
    importlib.import_module(module)
"""
COMMAND = """
from weir.commands.main import main

sys.argv[:2] = ["weir"]
main()
"""


@pytest.mark.parametrize(
    ("extra", "modules"),
    [
        ("", ("weir.commands.main", "weir.controllers.service", "weir.metrics.store.redis_store")),
        ("engine", ("weir.pipeline.engine.start", "weir.pipeline.engine.planning", "weir.checks")),
        ("history", ("weir.commands.runs", "weir.metrics.eventlog.importer", "weir.metrics.runs.tuning")),
        ("web", ("weir.components.web.worker",)),
        ("host", ("weir.pipeline.hosts.host", "weir.metrics.agent.agent")),
    ],
)  # fmt: skip
def test_each_part_runs_on_what_its_extra_installs(extra: str, modules: tuple[str, ...]) -> None:
    assert "pyspark" in absent_beside(extra) or extra == "host"
    done = run_beside(extra, LOAD, *modules)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        (("train-qtable", "table.json"), "engine"),
        (("runs",), "history"),
        (("web", "--port", "0"), "web"),
        (("host", "x", "--master", "spark://x:1"), "host"),
    ],
)
def test_a_command_that_needs_more_says_what_to_install(
    command: tuple[str, ...], extra: str
) -> None:
    done = run_beside("", COMMAND, *command)
    assert (done.returncode, done.stderr) == (
        2, f"This needs more than is installed here: pip install 'weir[{extra}]'\n",
    )  # fmt: skip


def run_beside(extra: str, code: str, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run it where nothing of any other extra is installed."""
    absent = " ".join(absent_beside(extra))
    return subprocess.run(
        [sys.executable, "-c", ALONE + code, absent, *words], cwd=ROOT,
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def absent_beside(extra: str) -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {name: _modules(name, project) for name in project["optional-dependencies"]}
    return set().union(*extras.values()) - extras.get(extra, set())


def _modules(extra: str, project: dict[str, Any]) -> set[str]:
    """What the packages of an extra are called when they are imported."""
    names = {re.split(r"[^A-Za-z0-9-]", r)[0] for r in requirements(extra, _declared(project))}
    return {{"argon2-cffi": "argon2"}.get(n, n.replace("-", "_")) for n in names}


def _declared(project: dict[str, Any]) -> list[str]:
    """As the metadata of the installed package name them."""
    return [
        f'{wanted}; extra == "{extra}"'
        for extra, found in project["optional-dependencies"].items()
        for wanted in found
    ]


def test_the_wheel_takes_every_file_that_the_code_reads() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (patterns,) = settings["tool"]["setuptools"]["package-data"].values()
    folders = [p for p in (ROOT / "weir").iterdir() if p.is_dir() and p.name[0] != "_"]
    data = [p for folder in folders for p in folder.resolve().rglob("*.*") if _is_data(p)]
    assert len(data) > 20
    assert [p.name for p in data if not any(fnmatch(p.name, one) for one in patterns)] == []


def _is_data(path: Path) -> bool:
    return path.is_file() and path.suffix != ".py" and "__pycache__" not in path.parts
