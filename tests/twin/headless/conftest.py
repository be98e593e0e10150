"""Inputs of the commands, and finished outputs."""

import shutil
from pathlib import Path

import pytest

from tests.twin.builders import run
from tests.twin.headless.builders import simulated


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("headless") / "inputs"
    assert run("generate", "--profile", "oasis", "--jobs", 12, "--servers", 6, "--seed", 7, "--out", folder)[0] == 0
    return folder


@pytest.fixture(scope="module", params=["oasis", "fifo"])
def original(request, inputs):
    folder = inputs.parent / request.param
    assert simulated(inputs, folder, request.param)[0] == 0
    return folder


@pytest.fixture
def copy(original, tmp_path):
    return Path(shutil.copytree(original, tmp_path / "result"))
