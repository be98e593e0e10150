"""The tournament of run-time predictors, corrected predictions, and histories that say little."""

import pytest

from scheduling.run_times import predictors
from scheduling.run_times.overrun import expected_run_ms
from scheduling.run_times.tournament import DEFAULT, MIN_STARTS, WINDOW_MS, Tournament, best, similar

MINUTE = 60_000


def played(*run_times, user="ann", limit_ms=600_000):
    """A tournament in which a job ends before the next one is submitted."""
    made = Tournament()
    for number, run_ms in enumerate(run_times):
        row = similar(user, 1, limit_ms)
        made.submitted(str(number), row)
        made.ended(str(number), row, run_ms, number)
    return made


def accuracies(made, now_ms=0):
    return {row.name: row for row in made.accuracies(now_ms)}


def test_the_limit_is_a_predictor_that_learns_nothing():
    made = played(1_000, 2_000)
    assert made.predict_all(similar("ann", 1, 600_000))["limit"] == 600_000
    assert made.predict_all(similar("ann", 1, None))["limit"] is None
    assert accuracies(made)["limit"].mean_error_ms == (599_000 + 598_000) / 2


def test_accuracies_by_hand():
    """last-two says nothing, 100, 150; the jobs ran 100, 200, 300."""
    row = accuracies(played(100, 200, 300))["last-two"]
    assert (row.jobs, row.mean_error_ms, row.median_error_ms, row.underestimated) == (2, 125, 125, 1.0)
    assert row.accuracy == (0.5 + 0.5) / 2


def test_a_job_is_scored_by_what_was_known_at_its_submission():
    made, row = Tournament(), similar("ann", 1, None)
    for name in ("a", "b"):
        made.submitted(name, row)
    made.ended("a", row, 100, 0)
    made.ended("b", row, 100, 0)
    assert accuracies(made)["last-two"].jobs == 0, "nothing had ended when they were submitted"
    made.withdrawn("a")
    assert made.predictions == {}


def test_scores_leave_the_window():
    made = played(100, 200, 300)
    assert accuracies(made, WINDOW_MS + 1)["last-two"].jobs == 1
    assert accuracies(made, WINDOW_MS + 9)["last-two"].jobs == 0


def test_the_state_is_restored():
    made, other = played(100, 200, 300, 400), Tournament()
    made.submitted("open", similar("bob", 2, 5_000))
    other.restore(made.state())
    assert other.state() == made.state()
    stranger = made.state() | {"names": ["limit"]}
    again = Tournament()
    again.restore(stranger)
    assert not again.scores, "scores of other predictors mean nothing here"
    assert again.predict_all(similar("ann", 1, None)) == made.predict_all(similar("ann", 1, None))


def test_the_best_has_the_least_error_of_starts():
    many = MIN_STARTS
    assert best({}) == DEFAULT
    assert best({"last-two": (many, 5.0)}) == DEFAULT, "nothing to compare with"
    assert best({"last-two": (many, 5.0), "similar-median": (many, 4.0), "limit": (many - 1, 1.0)}) == "similar-median"
    assert best({"similar-median": (many, 4.0), "last-two": (many, 4.0)}) == "last-two"


@pytest.mark.parametrize(
    ("predicted", "elapsed", "limit", "expected"),
    [
        (100, 50, None, 100), (100_000, 100_000, None, 200_000), (1_000, 5_000, None, 65_000),
        (100_000, 150_000, None, 210_000), (100_000, 100_000, 150_000, 150_000), (0, 0, None, 1),
        (0, 7, 10, 10), (100, 200, 150, 201), (10, 5, 3, 6),
    ],
)  # fmt: skip
def test_a_prediction_that_was_underestimated_is_doubled_up_to_the_limit(predicted, elapsed, limit, expected):
    assert expected_run_ms(predicted, elapsed, limit) == expected


@pytest.mark.parametrize("name", [name for name, cls in predictors().items() if cls.learns])
def test_jobs_all_alike_are_predicted_exactly(name):
    assert accuracies(played(*[90_000] * 5))[name].mean_error_ms == 0


def test_a_limit_that_is_always_reached_is_what_everybody_predicts():
    predicted = played(*[600_000] * 30).predict_all(similar("ann", 1, 600_000))
    assert set(predicted.values()) == {600_000}


def test_a_limit_that_is_never_reached_is_not_believed():
    predicted = played(*range(1_000, 31_000, 1_000)).predict_all(similar("ann", 1, 600_000))
    assert predicted.pop("limit") == 600_000
    assert max(predicted.values()) < 31_000


def test_one_user_teaches_what_another_one_is_predicted():
    assert played(5_000).predict_all(similar("bob", 1, None))["last-two"] == 5_000
