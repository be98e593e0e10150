"""Every field of a job has a title, the same in Python and in JavaScript (tests/js/util/job-fields.test.js)."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

from scheduling.model.values import Job
from scheduling.reporting.job_fields import TITLES

GOLDEN = Path(__file__).parents[2] / "fixtures" / "job_fields.json"


def test_every_field_of_a_job_has_a_title():
    assert {field.name for field in fields(Job)} - {"provenance"} == set(TITLES)
    assert len(set(TITLES.values())) == len(TITLES)
    assert TITLES["gradient_mb"] == "Gradient size"


def test_the_titles_are_those_of_the_pages():
    assert json.loads(GOLDEN.read_text()) == TITLES
