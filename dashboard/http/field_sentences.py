"""Sentences of Django REST framework about fields, in the words of the API: the rule, and the value."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rest_framework import serializers

from scheduling.model.values import shorten

MAX_DIGITS = 19  # of whole numbers in JSON; larger ones are read as floats
WHOLE = "This field must be a whole number."
# "This field" is the subject; `detail` names the field in its place (dashboard/api/errors.py).
SENTENCES = tuple(
    (re.compile(pattern), sentence)
    for pattern, sentence in (
        (
            r'Invalid pk "(.*)" - object does not exist\.',
            r"This field must be the id of an existing object, got \1, which may have been deleted.",
        ),
        (r"Incorrect type\. Expected pk value, received (\w+)\.", "This field must be an id, a whole number."),
        (
            r"Authentication credentials were not provided\.",
            "Nobody is logged in here; the session may have ended. Log in again, or send a token.",
        ),
        (r"CSRF Failed: .*", "The CSRF token is missing or belongs to an earlier login; load the page again."),
        (r"Ensure this field has at least 1 elements\.", "This field must have at least one element."),
        (r"Ensure this field has at least (\d+) elements\.", r"This field must have at least \1 elements."),
        (r"Ensure this field has no more than (\d+) elements\.", r"This field must have at most \1 elements."),
        (r"Ensure this field has no more than (\d+) characters\.", r"This field must have at most \1 characters."),
        (r"Ensure this value is greater than or equal to (\S+)\.", r"This field must be at least \1."),
        (r"Ensure this value is less than or equal to (\S+)\.", r"This field must be at most \1."),
        (r"Invalid data\. Expected a dictionary, but got (\w+)\.", "The body must be a JSON object."),
        (r"Expected a dictionary of items but got type .*\.", "This field must be a JSON object."),
        (r"Expected a list of items but got type .*\.", "This field must be a list."),
        (r"A valid integer is required\.", WHOLE),
        (r"A valid number is required\.", "This field must be a number."),
        (r"Must be a valid boolean\.", "This field must be true or false."),
        (r"Not a valid string\.", "This field must be text."),
    )
)


def choice_field(
    choices: Sequence[str], kind: type[serializers.ChoiceField] = serializers.ChoiceField, **given: Any
) -> serializers.ChoiceField:
    """Field for one of `choices`; its refusal lists them."""
    sentence = f"This field must be one of {', '.join(choices)}, got '{{input}}'."
    return kind(choices=list(choices), error_messages={"invalid_choice": sentence}, **given)


# rules of numbers and of true and false, whose values are no secrets
RULE = re.compile(r"This field must be (a number|a whole number|at least \S+|at most \S+|true or false|an id, .*)\.")


def with_values(found: Any, given: Any) -> Any:
    """The answer with the refused value in each sentence about a number; given: the body of the request."""
    if isinstance(found, dict):
        return {key: with_values(inner, _part(given, key)) for key, inner in found.items()}
    if isinstance(found, list):
        return [with_values(inner, given) for inner in found]
    if found == WHOLE and isinstance(given, float) and given.is_integer():  # such as 1e20, which JSON reads as a float
        return f"{found[:-1]} of at most {MAX_DIGITS} digits, got {given!r}."
    if isinstance(found, str) and RULE.fullmatch(found) and given is not None:
        return f"{found[:-1]}, got {shorten(repr(given))}."
    return found


def _part(given: Any, key: Any) -> Any:
    """A field of an object, or an element of a list by its place; None for what is not there."""
    if isinstance(given, Mapping):
        return given.get(key)
    if isinstance(given, Sequence) and not isinstance(given, str) and str(key).isdigit() and int(key) < len(given):
        return given[int(key)]
    return None


def in_own_words(found: Any) -> Any:
    """The answer with each known sentence replaced."""
    if isinstance(found, dict):
        return {key: in_own_words(inner) for key, inner in found.items()}
    if isinstance(found, list):
        return [in_own_words(inner) for inner in found]
    if not isinstance(found, str):
        return found
    for pattern, sentence in SENTENCES:
        if match := pattern.fullmatch(found):
            return match.expand(sentence)
    return found
