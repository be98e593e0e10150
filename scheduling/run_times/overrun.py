"""Expected run time of a job that runs already: its prediction, corrected once it has run longer."""

from __future__ import annotations

MIN_EXTENSION_MS = 60_000  # by which a corrected prediction is at least later than now


def expected_run_ms(predicted_ms: int, elapsed_ms: int, limit_ms: int | None) -> int:
    """Expected run time of a job that has run for `elapsed_ms`; it is later than that.

    A prediction that has been reached is doubled until it has not [Tsafrir et al.], and is then at least
    MIN_EXTENSION_MS after the elapsed time, but never above the limit. A job that outlives its limit is expected to
    end at once.
    """
    expected_ms = max(1, predicted_ms)
    if expected_ms <= elapsed_ms:
        while expected_ms <= elapsed_ms:
            expected_ms *= 2
        expected_ms = max(expected_ms, elapsed_ms + MIN_EXTENSION_MS)
    if limit_ms is not None:
        expected_ms = min(expected_ms, limit_ms)
    return max(expected_ms, elapsed_ms + 1)
