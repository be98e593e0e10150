"""Errors as answers: one sentence in `detail`, beside it the sentences about single fields; for links a page."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from typing import Any

from django.db import DataError, OperationalError
from django.db.models import ProtectedError
from django.http import HttpResponse
from rest_framework.exceptions import Throttled, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler

from dashboard.auth.visible import Missing, what_was
from dashboard.http.error_page import error_page, wants_page
from dashboard.http.field_sentences import in_own_words, with_values
from dashboard.readmodels.studies.used_by import used_by
from scheduling.kernel.parameters import UnknownName
from scheduling.model.values import ModelError, shorten
from twin.eventlog.batch_codec import UnreadableLog
from twin.eventlog.large_runs import TooLarge
from twin.infra import disk
from twin.mirror.connecting.errors import FieldError
from twin.runs.commands import Refused

log = logging.getLogger(__name__)
MISSING = re.compile(r"No (\w+) matches the given query\.")  # Django's 404
NOUNS = {
    "ClusterSpec": "cluster",
    "PushSource": "source",
    "ApiToken": "token",
    "AlertRule": "rule",
}  # others are those of their models
OWN = "This field "  # the subject of sentences of DRF
SAID = (Refused, ModelError, UnknownName, UnreadableLog)


def handler(error: Exception, context: dict[str, Any]) -> HttpResponse | None:
    """Exception handler of DRF: JSON, or a page where a browser follows a link."""
    answer = _answer(error, context)
    if answer is None or "request" not in context or not wants_page(context["request"]):
        return answer
    return error_page(context["request"]._request, answer.status_code, str(answer.data["detail"]))


def _answer(error: Exception, context: dict[str, Any]) -> Response | None:
    """Answer of DRF, extended by errors of the lower layers."""
    if isinstance(error, FieldError):
        error = ValidationError({error.field: [str(error)]})
    if isinstance(error, TooLarge):
        return Response({"detail": str(error), "code": error.code}, status=400)
    if isinstance(error, SAID):
        return Response({"detail": str(error)}, status=400)
    if isinstance(error, ProtectedError):
        users = used_by(error.protected_objects, context["request"].user)
        return Response({"detail": f"Still used by {users}; delete those first."}, status=409)
    if isinstance(error, DataError):  # PostgreSQL: a number or a text that it cannot hold
        return Response({"detail": f"The database cannot store this: {' '.join(str(error).split())}."}, status=400)
    if isinstance(error, OperationalError):
        log.warning("%s: %s", context["request"].path, error)
        reason = disk.behind(error) or "the database cannot store it now"
        return Response(
            {"detail": f"{reason[0].upper()}{reason[1:]} ({' '.join(str(error).split())}). Try again later."},
            status=503,
        )
    answer = exception_handler(error, context)
    if answer is not None and (missing := MISSING.fullmatch(str(error))):
        noun = NOUNS.get(missing[1], missing[1].lower())
        of_address = next(iter(context["kwargs"].values()), "")
        wanted = shorten(str(error.wanted if isinstance(error, Missing) else of_address))
        answer.data["detail"] = _missing(noun, wanted, context["request"].user)
    if answer is not None and isinstance(error, Throttled) and _of_account(error):
        answer.data["detail"] = f"This account sent too many requests; try again in {error.wait} s."
    if answer is not None:
        if str(error).startswith("CSRF Failed"):
            answer.data["code"] = "csrf"  # pages get a new token and repeat the request
        answer.data = in_own_words(answer.data)
    if answer is not None and isinstance(error, ValidationError):
        answer.data = with_values(answer.data, context["request"].data if "request" in context else None)
        fields = answer.data if isinstance(answer.data, Mapping) else {}
        answer.data = {**fields, "detail": " ".join(_sentences(answer.data))}
    return answer


def _missing(noun: str, wanted: str, user: Any) -> str:
    """Sentence about an object that does not exist for the user: who deleted it, where that is known."""
    return str(what_was(noun, wanted, user) or f"There is no {noun} {wanted}; it may have been deleted.")


def _of_account(error: Throttled) -> bool:
    """True for the limit of DRF; others have a sentence of their own."""
    return error.wait is not None and str(error.detail).startswith(str(Throttled.default_detail))


def _sentences(found: Any, name: str = "") -> Iterator[str]:
    """Sentences, each after the name of its field: 'speed must be a number.'"""
    if isinstance(found, Mapping):
        for key, inner in found.items():
            # a number is the place of a part of a list
            own = "" if key in ("non_field_errors", "detail") or str(key).isdigit() else str(key)
            yield from _sentences(inner, ".".join(part for part in (name, own) if part))
    elif isinstance(found, list):
        for inner in found:
            yield from _sentences(inner, name)
    else:
        yield _sentence(name, str(found))


def _sentence(name: str, found: str) -> str:
    """The sentence with the name of its field, unless it names it itself."""
    if found.startswith(OWN):
        return f"{name or 'the body'} {found.removeprefix(OWN)}"
    own = name.rpartition(".")[2]
    return f"{name}: {found}" if own and own not in found.lower().split() else found
