"""Contexts that several tests use: one keeps what the browser has loaded and nothing else."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import StorageState, expect

from tests.browser.contexts import Contexts

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LEAVE = """() => new Promise((done) => {
  localStorage.setItem('left', '1');
  sessionStorage.setItem('left', '1');
  document.cookie = 'left=1';
  indexedDB.open('left').onsuccess = (event) => { event.target.result.close(); done(); }; })"""
FOUND = """async () => [localStorage.length, sessionStorage.length, document.cookie.includes('left'),
  (await indexedDB.databases()).length, (await navigator.permissions.query({ name: 'geolocation' })).state]"""
# The bytes that the network has brought of each script of the page; a script of the cache has none.
SCRIPTS = """() => performance.getEntriesByType('resource').filter((one) => one.name.endsWith('.js'))
  .map((one) => one.transferSize)"""


def test_the_next_user_of_a_context_finds_only_its_caches(contexts: Contexts, operator_session: StorageState) -> None:
    with contexts.lent(operator_session) as first:
        page = first.new_page()
        page.goto("/")
        page.evaluate(LEAVE)
        first.grant_permissions(["geolocation"])
        assert page.evaluate(FOUND) == [1, 1, True, 1, "granted"]
        first.set_offline(True)
    with contexts.lent() as second:
        assert second is first
        assert second.cookies() == []
        assert [page.url for page in second.pages] == ["about:blank"]
        page = second.new_page()
        page.goto("/")
        expect(page).to_have_url(re.compile("/login/"))
        assert page.evaluate(FOUND) == [0, 0, False, 0, "prompt"]
    with contexts.lent(operator_session) as third:
        assert third is first
        page = third.new_page()
        page.goto("/")
        brought = page.evaluate(SCRIPTS)
        assert len(brought) > 20
        assert set(brought) == {0}


def test_two_users_at_a_time_have_contexts_of_their_own(contexts: Contexts) -> None:
    with contexts.lent() as one, contexts.lent() as other:
        assert one is not other
