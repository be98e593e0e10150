"""People with roles, a real frame bus, and a run to look at."""

import importlib
import sys

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.test import Client

from scheduling import algorithms
from scheduling.kernel import registry
from tests import exercised
from tests.dashboard import described_answers
from tests.twin.runtime.queues import work
from twin.eventlog import state_cache
from twin.models import Run


@pytest.fixture(autouse=True)
def settings_of_tests(settings, tmp_path, layer, fresh):
    """Plain static files, a folder for uploads, passwords that cost no time, no limits on how often one may ask."""
    # hashing took nine tenths of the time
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    settings.UPLOAD_DIR, settings.STATIC_ROOT = tmp_path / "uploads", tmp_path
    from django.core.cache import cache

    cache.clear()
    state_cache.forget()  # row ids are used again


@pytest.fixture(autouse=True)
def answers_as_described(monkeypatch):
    """Every answer of the API that a test gets is as the OpenAPI description states it."""
    plain = Client.request

    def request(self, **given):
        answer = plain(self, **given)
        method, address = given["REQUEST_METHOD"], given["PATH_INFO"]
        assert described_answers.fault(method, address, answer) is None
        if answer.status_code < 400 and (operation := described_answers.operation_of(method, address)):
            exercised.done.add(operation)
        return answer

    monkeypatch.setattr(Client, "request", request)


def person(name: str, *roles: str) -> Client:
    user = get_user_model().objects.create_user(name, password="a long enough password")
    for role in roles:
        user.groups.add(Group.objects.get_or_create(name=role)[0])
    client = Client()
    client.force_login(user)
    client.user = user
    return client


@pytest.fixture
def more_schedulers(tmp_path, monkeypatch):
    """(folder, forget) of schedulers beside those of the product; forget(): the registry reads its folders again."""

    def forget() -> None:
        registry.names.cache_clear()
        registry._imported.cache_clear()
        importlib.invalidate_caches()
        for module in [name for name in sys.modules if name.startswith(f"{algorithms.__name__}.next_free_")]:
            del sys.modules[module]

    folder = tmp_path / "more"
    folder.mkdir()
    monkeypatch.setattr(algorithms, "__path__", [*algorithms.__path__, str(folder)])
    forget()
    yield folder, forget
    forget()


@pytest.fixture
def operator(db) -> Client:
    return person("olga", "operator")


@pytest.fixture
def approver(db) -> Client:
    return person("anton", "approver")


@pytest.fixture
def admin(db) -> Client:
    return person("ada", "admin")


@pytest.fixture
def viewer(db) -> Client:
    return person("victor", "viewer")


@pytest.fixture
def nobody(db) -> Client:
    """Has an account and no role."""
    return person("nina")


@pytest.fixture
def finished_run(make_run) -> Run:
    """Twelve jobs under OASiS, to the end."""
    from twin.runs import runner

    run = make_run(scheduler="oasis")
    runner.enqueue(run.pk)
    work()
    run.refresh_from_db()
    assert run.status == Run.FINISHED
    return run
