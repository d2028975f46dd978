"""docs/metrics.md lists every metric with its meaning and labels, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from messor.core.metrics import Metrics
from messor.ops.figures import BUDGET, BUDGET_MEANING, FIGURES

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "metrics.md"
DEPLOYED = [
    *(ROOT / "deploy" / "prometheus").glob("*.yml"),
    *(ROOT / "deploy" / "grafana" / "dashboards").glob("*.json"),
]


def of_process() -> list[str]:
    rows = []
    for collector in dict.fromkeys(Metrics().registry._collector_to_names):
        labels = ", ".join(getattr(collector, "_labelnames", ()))
        for family in collector.collect():
            name = f"{family.name}_total" if family.type == "counter" else family.name
            meaning = family.documentation.rstrip(".")
            rows.append(f"| `{name}` | {family.type} | {labels or 'none'} | {meaning} |")
    return rows


def of_installation() -> list[str]:
    figures = [(each.name, each.labels, each.meaning) for each in FIGURES]
    figures.append((BUDGET, ("provider",), BUDGET_MEANING))
    return [
        f"| `{name}` | {', '.join(labels) or 'none'} | {text} |" for name, labels, text in figures
    ]


def test_the_page_lists_the_metrics_of_the_code() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `messor_")]
    assert rows == [*of_process(), *of_installation()]


def test_rules_and_dashboards_use_no_other_metric() -> None:
    known = {re.sub(r"^\| `(\w+)`.*", r"\1", row) for row in [*of_process(), *of_installation()]}
    for path in DEPLOYED:
        for name in re.findall(r"\bmessor_\w+", path.read_text()):
            base = re.sub(r"_(bucket|sum|count)$", "", name)
            assert base in known, (path.name, name)
