"""The table of metrics by API, and the titles that comparisons and sweeps take from it."""

from dataclasses import asdict

from scheduling.reporting.metric_table import BY_KEY, METRICS
from twin.analysis.comparison.breakdowns import BREAKDOWN_METRICS
from twin.analysis.comparison.metrics import COMPARED
from twin.studies import sweep_results


def test_the_table_comes_whole_and_in_order(viewer):
    rows = viewer.get("/api/metrics/").json()
    assert rows == [asdict(metric) for metric in METRICS]
    assert list(rows[0]) == ["key", "title", "unit", "direction", "definition", "scope"]


def test_what_is_compared_swept_and_grouped_is_in_the_table():
    assert {*COMPARED, *BREAKDOWN_METRICS, *sweep_results.METRICS} <= set(BY_KEY)
    assert set(BREAKDOWN_METRICS) <= set(COMPARED)
    assert all(BY_KEY[key].direction for key in BREAKDOWN_METRICS)
