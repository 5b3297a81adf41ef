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
            raise ModuleNotFoundError(f"{name} is not installed")

sys.meta_path.insert(0, Absent())
for module in sys.argv[2:]:
    importlib.import_module(module)
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
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {name: _modules(name, project) for name in project["optional-dependencies"]}
    absent = set().union(*extras.values()) - extras.get(extra, set())
    assert "pyspark" in absent or extra == "host"
    done = subprocess.run(
        [sys.executable, "-c", ALONE, " ".join(absent), *modules], cwd=ROOT,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


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
