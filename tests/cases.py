"""Number of random cases that a test draws: all of them, or a few with `pytest --quick`.

A test makes the same checks in both; `bin/test` without --quick draws all cases.
"""

quick = False  # set before the tests are collected


def cases(whole: int, few: int) -> int:
    """All cases, or those of a quick run."""
    return few if quick else whole
