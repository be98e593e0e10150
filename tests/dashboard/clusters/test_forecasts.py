"""Forecasts and their fidelity in the API and on their page."""

import pytest

from twin.models import Connection, Forecasting, Score

pytestmark = pytest.mark.django_db


@pytest.fixture
def connection(finished_run):
    return Connection.objects.create(name="lab", connector="push", parameters={"source": "lab"}, run=finished_run)


ROW = {
    "job": 1, "start_ms": 5, "finish_ms": 9, "low_ms": 4, "high_ms": None, "servers": [0], "why": "room",
    "waits_for": ["j2"], "more": 0, "ahead": 1, "system_ms": None, "never": "",
}  # fmt: skip


def test_before_the_first_forecast_there_are_no_rows(viewer, connection):
    answer = viewer.get("/api/live/lab/forecast/").json()
    assert (answer["rows"], answer["made_ms"], answer["run"]) == ([], None, connection.run_id)
    assert answer["calibration"] == {
        "state": "learning", "least": 100, "count": 0, "share": None, "low": None, "high": None,
    }  # fmt: skip
    fidelity = viewer.get("/api/live/lab/fidelity/").json()
    assert (fidelity["figures"], fidelity["drift"]["count"]) == ({}, None)


def test_forecasts_of_another_run_are_not_shown(viewer, connection):
    kept = Forecasting.objects.create(connection=connection, made_ms=5, run=connection.run, rows=[ROW])
    answer = viewer.get("/api/live/lab/forecast/").json()
    assert (answer["rows"], answer["error"]) == ([ROW], "")
    kept.run, kept.error = None, "it took longer than 120 s"
    kept.save()
    answer = viewer.get("/api/live/lab/forecast/").json()
    assert (answer["rows"], answer["error"]) == ([], "it took longer than 120 s")


def test_the_errors_are_those_of_the_scores(viewer, connection):
    from scheduling.run_times.tournament import Tournament
    from twin.mirror.forecasts.accuracy import accuracy

    for method, said in (("twin", 60_000), ("system", 600_000)):
        Score.objects.bulk_create(
            Score(connection=connection, what="start", method=method, lead=1, made_ms=n, predicted_ms=n + said,
                  real_ms=n + 90_000, low_ms=n, high_ms=n + 60_000 + 40_000 * (n % 5 > 0))
            for n in range(200)
        )  # fmt: skip
    Forecasting.objects.create(connection=connection, figures=accuracy(connection.pk, Tournament(), 100_000))
    answer = viewer.get("/api/live/lab/fidelity/").json()
    assert (answer["calibration"]["state"], answer["calibration"]["share"]) == ("calibrated", 0.8)
    twin, system = answer["figures"]["starts"][:2]
    assert (twin["total"]["mean_ms"], system["total"]["mean_ms"], system["twin_mean_ms"]) == (30_000, 510_000, 30_000)
    assert twin["total"]["bias_ms"] == 30_000
    assert [one["count"] for one in twin["leads"]] == [0, 200, 0, 0, 0]
    assert answer["figures"]["best"] == "similar-p90"


def test_the_page_is_there_and_an_unknown_cluster_is_named(viewer, connection):
    page = viewer.get("/live/lab/fidelity/")
    assert page.status_code == 200
    assert b"Fidelity of lab" in page.content
    assert viewer.get("/live/other/fidelity/").status_code == 404
    assert viewer.get("/api/live/other/forecast/").status_code == 404
    assert viewer.get("/api/live/other/fidelity/").status_code == 404
