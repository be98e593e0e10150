"""The arrangement of the run page, kept for each account."""

import html
import json
import re

import pytest
from django.test import Client

from dashboard.models import Arrangement
from tests.dashboard.builders import post

ADDRESS = "/api/arrangement/"
PANELS = {"main": ["panel-gantt", "panel-prices"], "side": ["panel-jobs"], "hidden": ["panel-prices"]}


def shown(client, run):
    page = client.get(f"/runs/{run.pk}/").content.decode()
    found = re.search(r'data-arrangement="([^"]*)"', page)
    assert found
    return json.loads(html.unescape(found[1]))


def test_the_arrangement_follows_the_account_and_no_other(operator, viewer, finished_run):
    assert shown(viewer, finished_run) is None
    assert post(viewer, ADDRESS, PANELS).json() == PANELS
    other_browser = Client()
    other_browser.force_login(viewer.user)
    assert shown(other_browser, finished_run) == PANELS
    assert shown(operator, finished_run) is None
    post(viewer, ADDRESS, PANELS | {"hidden": []})
    assert shown(viewer, finished_run) == PANELS | {"hidden": []}
    assert Arrangement.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"main": ["<b>"]}, "A panel is the id of a section of the run page, such as panel-prices."),
        ({"side": ["panel-gantt"]}, "panel-gantt has two places; name each panel once."),
        ({"hidden": ["panel-a"] * 41}, "at most 40 elements"),
        ({"main": "panel-gantt"}, "must be a list"),
        ({"top": []}, "top"),
    ],
)
def test_what_is_not_an_arrangement_is_refused(viewer, change, message):
    answer = post(viewer, ADDRESS, PANELS | change)
    assert answer.status_code == 400
    assert message in answer.content.decode()
    assert not Arrangement.objects.exists()


def test_an_account_without_a_role_and_a_stranger_store_nothing(nobody, client, db):
    assert post(nobody, ADDRESS, PANELS).status_code == 403
    assert post(client, ADDRESS, PANELS).status_code in (401, 403)
    assert not Arrangement.objects.exists()


def test_the_arrangement_goes_with_its_account(viewer):
    post(viewer, ADDRESS, PANELS)
    viewer.user.delete()
    assert not Arrangement.objects.exists()
