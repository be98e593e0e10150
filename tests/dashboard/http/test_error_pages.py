"""Errors behind a link that a browser follows are pages with a sentence; requests of scripts get JSON."""

import re

import pytest
from django.test import Client

BROWSER = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


@pytest.mark.parametrize("address", [
    "/api/runs/{run}/schedule.csv", "/api/runs/{run}/events.jsonl", "/api/runs/{run}/", "/api/runs/{run}/groups.csv"
])  # fmt: skip
def test_a_link_to_a_run_that_was_deleted_shows_a_page_that_says_so(operator, finished_run, address):
    path = address.format(run=finished_run.pk)
    assert operator.delete(f"/api/runs/{finished_run.pk}/").status_code == 204
    said = rf"Run {finished_run.pk} \(OASiS, “test”\) was deleted by olga on \d{{4}}-\d\d-\d\d at \d\d:\d\d UTC\."
    page = operator.get(path, headers=BROWSER)
    assert (page.status_code, page["Content-Type"]) == (404, "text/html; charset=utf-8")
    assert "<h1>Not found</h1>" in page.content.decode()
    assert re.search(said, page.content.decode())
    answer = operator.get(path)
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/json")
    assert re.fullmatch(said, answer.json()["detail"])


def test_a_link_that_needs_a_session_offers_the_login(db, finished_run):
    page = Client().get(f"/api/runs/{finished_run.pk}/schedule.csv", headers=BROWSER)
    assert page.status_code in (401, 403)
    assert 'href="/login/"' in page.content.decode()


def test_a_wrong_field_and_an_unknown_address_are_pages_for_a_browser_only(operator, finished_run):
    wrong = f"/api/runs/{finished_run.pk}/jobs/?page=x"
    assert "<h1>Invalid request</h1>" in operator.get(wrong, headers=BROWSER).content.decode()
    assert operator.get(wrong).json()["detail"].startswith("page")
    assert "<h1>Not found</h1>" in operator.get("/api/nothing/", headers=BROWSER).content.decode()
    assert operator.get("/api/nothing/").json()["detail"].startswith("Not found.")
    sent = operator.post(f"/api/runs/{finished_run.pk}/clock/", {}, headers=BROWSER)
    assert sent["Content-Type"] == "application/json", "a form of a page is sent by its script"
