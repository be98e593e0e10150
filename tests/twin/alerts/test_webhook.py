"""Notices against a real server that fails, hangs and recovers."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import re
import socket
import time
from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from tests.twin.alerts.http_receiver import ACCEPT, CLOSE, DRIP, HANG, Receiving
from tests.twin.runtime.queues import messages
from twin.alerts import stored_rules
from twin.alerts.base import Finding
from twin.alerts.evaluation import settle
from twin.alerts.targets import CLUSTER, Target
from twin.alerts.webhook import delivery_task, outbox, receiver
from twin.models import Alert, AlertNotice, AlertRule, AlertWork

SECRET = "a secret that nobody else may know"
LAB = Target("connection lab", CLUSTER, None)


@pytest.fixture
def server(settings):
    made = Receiving()
    settings.ALERT_WEBHOOK_URL, settings.ALERT_WEBHOOK_SECRET = made.url, SECRET
    yield made
    made.close()


@pytest.fixture
def find(db):
    """What the rule about drift finds in the cluster now."""
    stored_rules.ensure_defaults()
    AlertRule.objects.update(clear_s=0)
    rules = stored_rules.applying(AlertRule.objects.all(), LAB.name)

    def settled(*subjects: str) -> None:
        values = {"count": 2, "compared": 5, "first": {"subject": "job 1", "field": "state"}}
        settle(LAB, 0, rules, {"drift": [Finding("drift", values, subject) for subject in subjects]})

    return settled


def deliver(limit_s: float = 5.0) -> int:
    to = receiver.configured()
    assert to is not None
    return outbox.deliver(to, limit_s=limit_s)


def again() -> None:
    """The time of the next attempt has come."""
    AlertNotice.objects.update(next_at=timezone.now())


def sent(server: Receiving) -> list[tuple[str, str]]:
    """(event, subject) of each call."""
    return [(json.loads(body)["event"], json.loads(body)["alert"]["subject"]) for _, body in server.received]


def test_an_alert_is_sent_when_it_opens_and_when_it_ends_with_a_signature(server, find):
    find("a")
    find("a")
    assert deliver() == 1
    find()
    assert deliver() == 1
    assert sent(server) == [("opened", "a"), ("ended", "a")]
    headers, body = server.received[0]
    assert headers["X-Twin-Signature"] == f"sha256={hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()}"
    found = json.loads(body)
    assert headers["X-Twin-Delivery"] == found["id"] == str(AlertNotice.objects.get(event="opened").key)
    assert headers["Content-Type"] == "application/json"
    alert = Alert.objects.get()
    assert found["alert"] == {
        "id": alert.pk, "rule": "drift", "title": "Drift", "level": "serious", "code": "drift",
        "sentence": "2 differences between the log and the cluster in 5 jobs and nodes; the first is the state of "
        "job 1", "target": "connection lab", "subject": "a", "values": alert.values, "run": None,
        "began_at": alert.began_at.isoformat(), "began_ms": None, "ended_at": None, "ending": "",
    }  # fmt: skip
    assert json.loads(server.received[1][1])["alert"]["ending"] == "cleared"
    assert deliver() == 0


def test_the_check_that_the_docs_show_accepts_what_is_sent_and_nothing_else(server, find):
    find("a")
    deliver()
    page = (settings.BASE_DIR / "docs" / "alerts.md").read_text()
    shown: dict = {}
    exec(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1], shown)
    headers, body = server.received[0]
    assert shown["is_genuine"](SECRET, body, headers["X-Twin-Signature"])
    assert not shown["is_genuine"](SECRET, body + b" ", headers["X-Twin-Signature"])
    example = json.loads(re.search(r"```json\n(.*?)```", page, re.DOTALL)[1])
    found = json.loads(body)
    assert (set(example), set(example["alert"])) == (set(found), set(found["alert"]))


def test_without_a_secret_there_is_no_signature(server, find, settings):
    settings.ALERT_WEBHOOK_SECRET = ""
    find("a")
    deliver()
    assert "X-Twin-Signature" not in server.received[0][0]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (500, "the receiver answered 500"), (429, "the receiver answered 429"),
        (302, "the receiver answered 302; redirects are not followed"),
        (CLOSE, "no valid HTTP answer"), (HANG, "no answer "), (DRIP, "no "),
    ],
)  # fmt: skip
def test_a_receiver_that_fails_is_asked_once_and_gets_everything_when_it_recovers(server, find, answer, error):
    server.answer = answer
    find("a", "b", "c")
    began = time.monotonic()
    assert deliver(limit_s=0.5) == 0
    assert time.monotonic() - began < 3
    assert len(server.received) == 1
    first, *others = AlertNotice.objects.all()
    assert first.error.startswith(error)
    assert first.attempts == 1
    assert {notice.next_at for notice in others} == {first.next_at}
    assert {notice.attempts for notice in others} == {0}
    assert not outbox.due()
    assert deliver() == 0
    assert len(server.received) == 1
    server.answer = ACCEPT
    again()
    assert deliver() == 3
    assert sent(server) == [("opened", "a"), ("opened", "a"), ("opened", "b"), ("opened", "c")]
    assert json.loads(server.received[0][1])["id"] == json.loads(server.received[1][1])["id"]


def test_a_notice_that_is_refused_waits_alone(server, find):
    server.answer = lambda path, body: 400 if json.loads(body)["alert"]["subject"] == "a" else 204
    find("a", "b")
    assert deliver() == 1
    assert sent(server) == [("opened", "a"), ("opened", "b")]
    assert [n.error for n in AlertNotice.objects.all()] == ["the receiver answered 400", ""]


def test_attempts_are_later_each_time_and_end_after_a_day(server, find, caplog):
    server.answer = 503
    find("a")
    waits = []
    for _ in range(12):
        before = timezone.now()
        deliver()
        waits.append(round((AlertNotice.objects.get().next_at - before).total_seconds()))
        again()
    assert waits == [5, 10, 20, 40, 80, 160, 320, 640, 1280, 1800, 1800, 1800]
    AlertNotice.objects.update(made_at=timezone.now() - timedelta(days=1, seconds=1))
    with caplog.at_level(logging.ERROR):
        deliver()
    assert AlertNotice.objects.get().given_up_at is not None
    again()
    assert not outbox.due()
    state = outbox.state()
    assert (state["waiting"], state["given_up"], state["delivered_at"]) == (0, 1, None)
    AlertNotice.objects.update(given_up_at=timezone.now() - timedelta(days=8))
    assert outbox.state()["given_up"] == 0
    assert "dropped: the receiver answered 503" in caplog.text


def test_no_part_of_the_address_but_its_host_and_no_secret_is_shown_or_logged(server, find, caplog, settings):
    with caplog.at_level(logging.DEBUG):
        find("a")
        server.answer = 500
        deliver()
        settings.ALERT_WEBHOOK_URL = server.url.replace("127.0.0.1", "no-such-host.invalid")
        again()
        deliver()
        told = f"{outbox.state()} {receiver.configured()!r} {caplog.text} {list(AlertNotice.objects.values())}"
    assert outbox.state()["receiver"] == f"http://no-such-host.invalid:{server.server_port}"
    assert "of-a-secret-path" not in told
    assert SECRET not in told


def test_a_name_and_password_of_the_address_are_sent_and_not_shown(server, find, settings):
    settings.ALERT_WEBHOOK_URL = server.url.replace("127.0.0.1", "twin:p%40ss@127.0.0.1")
    find("a")
    assert deliver() == 1
    assert server.received[0][0]["Authorization"] == "Basic dHdpbjpwQHNz"
    assert outbox.state()["receiver"] == f"http://127.0.0.1:{server.server_port}"
    assert receiver.Receiver("https://[::1]:8443/x", "").shown == "https://[::1]:8443"


@pytest.mark.parametrize("url", ["ftp://a/b", "hooks.example.org/x", "http://", "http://a:port/", "http://a/ b"])
def test_a_wrong_address_is_named_by_its_setting_and_not_called(find, settings, url, caplog):
    settings.ALERT_WEBHOOK_URL = url
    find("a")
    delivery_task.work()
    rule = "ALERT_WEBHOOK_URL must be an address that begins with http:// or https:// and names a host"
    assert outbox.state()["problem"] == rule
    assert rule in caplog.text
    assert outbox.state()["waiting"] == 1


def test_a_port_at_which_nobody_listens_is_an_error_in_words(find, settings):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        settings.ALERT_WEBHOOK_URL = f"http://127.0.0.1:{free.getsockname()[1]}/"
    find("a")
    assert deliver() == 0
    assert AlertNotice.objects.get().error == "Connection refused"


@pytest.mark.parametrize("gone_s", [-1, 3_600], ids=["ran out", "from before the clock was set back"])
def test_it_is_requested_while_a_notice_is_due_and_done_by_one_worker(server, find, gone_s):
    requests = delivery_task.Requests()
    assert not requests.refresh()
    find("a")
    assert requests.refresh()
    assert not requests.refresh()
    assert messages("io") == [("twin.tasks.deliver_alerts", 0)]
    AlertWork.objects.update_or_create(pk=1, defaults={"delivering_until": time.time() + 5})
    delivery_task.work()
    assert server.received == []
    AlertWork.objects.update(delivering_until=time.time() + gone_s)
    delivery_task.work()
    assert sent(server) == [("opened", "a")]
    assert AlertWork.objects.get().delivering_until == 0


def test_without_a_receiver_nothing_is_kept(find, settings):
    settings.ALERT_WEBHOOK_URL = ""
    find("a")
    assert (Alert.objects.count(), AlertNotice.objects.count()) == (1, 0)
    assert outbox.state()["receiver"] is None
