"""How the Kubernetes connector is admitted, what it reads of texts, and that no message holds a secret."""

import base64
import os
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twin.connectors import base as connectors
from twin.connectors._kubernetes.access import access
from twin.connectors._kubernetes.clock import Clock
from twin.connectors._kubernetes.quantities import line, thousandths, unix_ms
from twin.connectors.facts import ConnectorError

SECRET = "s3cr3t-token"
SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


def read(**given):
    return access(connectors.connector_class("kubernetes").Parameters(**given))


def kubeconfig(tmp_path, cluster="server: https://10.0.0.1:6443", user=f"token: {SECRET}", current="main"):
    path = tmp_path / "config"
    path.write_text(f"""
clusters: [{{name: c, cluster: {{{cluster}}}}}]
users: [{{name: u, user: {{{user}}}}}]
contexts: [{{name: main, context: {{cluster: c, user: u}}}}, {{name: broken, context: {{cluster: gone, user: u}}}}]
current-context: {current}
""")
    return str(path)


def test_a_kubeconfig_gives_server_and_token(tmp_path):
    found = read(kubeconfig=kubeconfig(tmp_path))
    assert (found.url, found.host, found.token()) == ("https://10.0.0.1:6443", ("10.0.0.1", 6443), SECRET)
    assert SECRET not in repr(found)


def test_files_of_a_kubeconfig_are_beside_it(tmp_path):
    (tmp_path / "token").write_text(f"{SECRET}\n")
    assert read(kubeconfig=kubeconfig(tmp_path, user="tokenFile: token")).token() == SECRET


def test_a_token_file_is_read_again_for_each_connection(tmp_path):
    path = tmp_path / "token"
    path.write_text("first")
    found = read(url="https://k:6443", token_from=str(path))
    assert found.token() == "first"
    path.write_text("second")
    assert found.token() == "second"


def test_inside_a_pod_nothing_has_to_be_given(monkeypatch):
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "6443")
    found = read()
    assert (found.host, found.token_from) == (("fd00::1", 6443), "/var/run/secrets/kubernetes.io/serviceaccount/token")


def bad_configs():
    return [
        (
            {"user": "exec: {command: aws}"},
            {},
            "its user logs in through a command or a provider, which is not supported",
        ),
        (
            {"cluster": "server: 'https://k:1', insecure-skip-tls-verify: true"},
            {},
            "insecure-skip-tls-verify is not supported",
        ),
        ({}, {"context": "prod"}, "it has no context 'prod'; known: main, broken"),
        ({"current": "broken"}, {}, "it has no cluster 'gone'; known: c"),
        ({"cluster": "server: 'https://k:1', certificate-authority-data: '***'"}, {}, "must be base64 of a PEM text"),
        ({}, {"url": "https://k:1"}, "give url or kubeconfig, not both"),
    ]


@pytest.mark.parametrize(("config", "given", "message"), bad_configs())
def test_a_kubeconfig_that_cannot_be_used_says_why(tmp_path, config, given, message):
    with pytest.raises(ConnectorError, match=message) as caught:
        read(kubeconfig=kubeconfig(tmp_path, **config), **given)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "url is missing"),
        ({"url": "k8s.example.org"}, "url must look like https://host:6443, got 'k8s.example.org'"),
        ({"url": "https://user:password@k:1"}, "url must look like"),
        ({"url": "https://k:99999"}, "url must look like"),
        ({"url": "http://10.0.0.1", "token_from": "$T"}, "a token must not be sent without TLS"),
        ({"kubeconfig": "/no/such/file"}, "kubeconfig /no/such/file: No such file or directory"),
    ],
)
def test_a_setting_that_cannot_be_used_says_what_would_work(monkeypatch, given, message):
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(ConnectorError, match=message):
        read(**given)


def test_a_token_that_was_typed_in_the_place_of_its_file_is_not_repeated(tmp_path):
    with pytest.raises(ConnectorError, match="it must be the path of a file, or \\$NAME") as caught:
        read(url="https://k:6443", token_from=SECRET).token()
    assert SECRET not in str(caught.value)
    with pytest.raises(ConnectorError, match="the environment variable NO_SUCH_TOKEN is not set"):
        read(url="https://k:6443", token_from="$NO_SUCH_TOKEN").token()
    (tmp_path / "two").write_text(f"{SECRET}\nInjected: header")
    with pytest.raises(ConnectorError, match="holds one line, the token") as caught:
        read(url="https://k:6443", token_from=str(tmp_path / "two")).token()
    assert SECRET not in str(caught.value)


def test_a_ca_that_is_none_is_reported(tmp_path):
    (tmp_path / "ca.crt").write_text("hello")
    with pytest.raises(ConnectorError, match="it must hold certificates in PEM form"):
        read(url="https://k:6443", ca_file=str(tmp_path / "ca.crt")).tls()


def test_a_client_certificate_that_is_none_is_reported_and_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    data = base64.b64encode(b"no certificate").decode()
    user = f"client-certificate-data: {data}, client-key-data: {data}"
    found = read(kubeconfig=kubeconfig(tmp_path, user=user))
    with pytest.raises(ConnectorError, match="must be a pair in PEM form"):
        found.tls()
    assert os.listdir(tmp_path) == ["config"]


@given(st.integers(0, 10**9), st.integers(0, 3), st.sampled_from(sorted(SUFFIXES)))
def test_decimal_quantities_are_rounded_down_to_thousandths(digits, places, suffix):
    value = Decimal(digits).scaleb(-places)
    assert thousandths(f"{value:f}{suffix}") == int(value.scaleb(SUFFIXES[suffix] + 3))


@given(st.integers(0, 10**6), st.integers(0, 5))
def test_binary_and_exponent_quantities_are_exact(number, power):
    assert thousandths(f"{number}{'KMGTPE'[power]}i") == number * 1024 ** (power + 1) * 1000
    assert thousandths(f"{number}e{power}") == thousandths(str(number * 10**power))


@given(st.text(max_size=12).filter(lambda text: not any(c.isdigit() for c in text)))
def test_what_is_no_quantity_is_refused_with_the_value(text):
    with pytest.raises(ConnectorError, match="a quantity must be a number"):
        thousandths(text)


@pytest.mark.parametrize("text", ["1 Gi", "1e9999", "٣", "0x10", "1KiB", "-1"])
def test_what_looks_like_a_quantity_is_refused(text):
    with pytest.raises(ConnectorError, match="a quantity must be a number"):
        thousandths(text)


def test_times_are_unix_milliseconds():
    assert unix_ms("2026-11-22T09:00:00Z") == 1_795_338_000_000
    assert unix_ms("2026-11-22T09:00:00.123456Z") == 1_795_338_000_123
    assert unix_ms("2026-11-22T10:00:00+01:00") == 1_795_338_000_000
    assert unix_ms(None) is None
    with pytest.raises(ConnectorError, match="a time must look like"):
        unix_ms("yesterday")


@given(st.text())
def test_a_line_is_printable_and_short(text):
    found = line(text, 20)
    assert len(found) <= 20
    assert found.isprintable()


def test_the_clock_is_bounded_by_the_dates_of_answers():
    clock = Clock()
    assert clock.offset_ms is None
    clock.see("Sun, 22 Nov 2026 09:00:00 GMT", 1_795_338_000_400, 1_795_338_000_600)
    assert clock.offset_ms == 0, "a clock that may agree does"
    clock.see("Sun, 22 Nov 2026 09:01:00 GMT", 1_795_338_000_400, 1_795_338_000_600)
    assert clock.offset_ms == 60_000, "between 59,400 and 60,600: the clock was set"
    clock.see("Sun, 22 Nov 2026 09:01:01 GMT", 1_795_338_000_600, 1_795_338_000_700)
    assert clock.offset_ms == (60_300 + 60_600) // 2
    clock.see("no date", 0, 0)
    assert clock.offset_ms == 60_450
