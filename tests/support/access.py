"""What keeps people who cannot see or cannot use a mouse from using a page, as axe finds it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

AXE = Path(__file__).parents[1] / "scripts/node_modules/axe-core/axe.min.js"
needs_axe = pytest.mark.skipif(
    not AXE.is_file(),
    reason="Node's packages are not there (./setup.sh --tests): pages are not checked by axe",
)
COLOURS = ("color-contrast", "link-in-text-block")
"""The rules that a theme decides."""
_RUN = """(rules) => axe.run(document, {
  resultTypes: ["violations"], ...(rules && {runOnly: {type: "rule", values: rules}}),
}).then((found) => found.violations
  .filter((rule) => ["serious", "critical"].includes(rule.impact))
  .flatMap((rule) => rule.nodes.map((node) => ({
    rule: rule.id, where: node.target.flat().join(" "),
    why: [...node.any, ...node.all, ...node.none].map((check) => check.message).join("; "),
  }))))"""


def barriers(page: Page, rules: Sequence[str] | None = None) -> list[str]:
    """Every serious or critical finding by all or some rules: which, at what selector and why."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    found: list[dict[str, Any]] = page.evaluate(_RUN, list(rules) if rules else None)
    return [f"{one['rule']} at {one['where']}: {one['why']}" for one in found]
