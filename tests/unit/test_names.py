"""One name, one meaning."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("commands", "components", "controllers", "metrics", "pipeline")
CONVENTIONS = {
    "Settings",  # every workload's own, which `--set` fills
    "Java",  # where py4j looks for the interface of an object
}
OF_PAPERS = "pipeline/experiments"
"""Experiments keep the words of the papers, where a job or a cluster is another one."""


def test_no_two_classes_have_one_name() -> None:
    found = defaultdict[str, list[str]](list)
    for path in sorted(p for folder in FOLDERS for p in (ROOT / folder).rglob("*.py")):
        place = str(path.relative_to(ROOT))
        if place.startswith(OF_PAPERS):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(place)
    twice = {name: places for name, places in found.items() if len(places) > 1}
    assert {n: p for n, p in twice.items() if n not in CONVENTIONS} == {}
