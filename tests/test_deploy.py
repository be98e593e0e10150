"""Files of deploy/: each names every process of bin/serve, and what can check it finds nothing wrong."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.twin.runtime.stack import ROOT, Stack, wait_until

DEPLOY = ROOT / "deploy"
PROCESSES = {"web", "runs", "long", "background", "ticker", "follower"}
EXPRESSION = re.compile(r"\btwin_\w+")
SUFFIXES = re.compile(r"_(bucket|total|sum|count)$")


def documents(name: str) -> list[dict[str, Any]]:
    return [part for part in yaml.safe_load_all((DEPLOY / name).read_text()) if part]


def run(*words: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120, **options)


def test_every_process_is_deployed():
    usage = run(ROOT / "bin" / "serve")
    assert usage.returncode == 2
    assert set(usage.stderr.split()[-1].split("|")) == PROCESSES | {"migrate"}
    services = documents("compose.yaml")[0]["services"]
    assert services.keys() == PROCESSES | {"migrate", "postgres", "redis", "proxy"}
    assert {name for name, service in services.items() if service.get("command") == name} == PROCESSES | {"migrate"}
    units = {path.stem.removeprefix("twin-") for path in (DEPLOY / "systemd").glob("*.service")}
    assert units == PROCESSES | {"migrate"}
    deployed = [one for one in documents("kubernetes/twin.yaml") if one["kind"] == "Deployment"]
    found = {one["metadata"]["name"]: one["spec"]["template"]["spec"]["containers"][0]["args"] for one in deployed}
    assert found == {f"twin-{name}": [name] for name in PROCESSES}


def test_the_image_does_not_run_as_root():
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    user = next(int(line.split()[1]) for line in lines if line.startswith("USER"))
    assert user != 0
    for one in documents("kubernetes/twin.yaml"):
        if one["kind"] == "Deployment":
            context = one["spec"]["template"]["spec"]["securityContext"]
            assert (context["runAsNonRoot"], context["runAsUser"]) == (True, user)


def test_compose_accepts_the_file(tmp_path):
    program = shutil.which("docker-compose")
    if program is None:
        pytest.skip("docker-compose is not on PATH")
    for name in ("compose.yaml", "twin.env.example"):
        shutil.copy(DEPLOY / name, tmp_path)
    (tmp_path / "twin.env.example").rename(tmp_path / "twin.env")
    done = run(program, "-f", tmp_path / "compose.yaml", "config", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_systemd_accepts_the_units(tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not on PATH")
    for unit in (DEPLOY / "systemd").iterdir():
        (tmp_path / unit.name).write_text(unit.read_text().replace("/opt/twin", str(ROOT)))
    done = run("systemd-analyze", "verify", *sorted(tmp_path.iterdir()))
    ours = [line for line in done.stderr.splitlines() if line.startswith(("twin", str(tmp_path)))]
    assert ours == []


def test_the_dashboard_shows_metrics_that_exist(tmp_path):
    panels = json.loads((DEPLOY / "grafana" / "twin.json").read_text())["panels"]
    expressions = [target["expr"] for panel in panels for target in panel["targets"]]
    known = set(re.findall(r"^\| `(twin_\w+)` \|", (ROOT / "docs" / "operation.md").read_text(), re.M))
    shown = {name for text in expressions for name in EXPRESSION.findall(text)}
    assert {name for name in shown if name not in known and SUFFIXES.sub("", name) not in known} == set()
    assert len({panel["id"] for panel in panels}) == len({panel["title"] for panel in panels}) == len(panels)
    if (promtool := shutil.which("promtool")) is None:
        pytest.skip("promtool, which checks the expressions, is not on PATH")
    rules = [{"record": f"shown:{i}", "expr": text} for i, text in enumerate(expressions)]
    (tmp_path / "rules.yml").write_text(yaml.safe_dump({"groups": [{"name": "shown", "rules": rules}]}))
    done = run(promtool, "check", "rules", tmp_path / "rules.yml")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_processes_of_bin_serve_are_a_whole_twin(tmp_path, valkey):
    broker = valkey.replace("unix://", "redis+socket://")
    stack = Stack(tmp_path, fresh=True, BROKER_URL=broker, LAYER_URL=valkey, HOST="127.0.0.1", WORKERS="1")
    stack.env["PORT"] = str(stack.port)
    assert run(ROOT / "bin" / "serve", "migrate", env=stack.env).returncode == 0
    log = (tmp_path / "log").open("w")
    started = {
        name: subprocess.Popen([str(ROOT / "bin" / "serve"), name], env=stack.env, stdout=log, stderr=log)
        for name in sorted(PROCESSES)
    }
    try:
        wait_until(stack.healthy, "the twin is healthy")
        for process in started.values():
            process.send_signal(signal.SIGTERM)
        codes = {name: process.wait(30) for name, process in started.items()}
    finally:
        for process in started.values():
            process.kill()
        log.close()
    assert set(codes.values()) <= {0, -signal.SIGTERM}, (codes, (tmp_path / "log").read_text())
