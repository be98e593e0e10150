"""Models of the dashboard: login links, accounts at an OpenID provider, tokens for scripts, arrangements of pages."""

from django.conf import settings
from django.db import models


class LoginToken(models.Model):
    """A link that logs in once. Only the hash of the token is stored."""

    digest = models.CharField(max_length=64, unique=True)
    role = models.CharField(max_length=20)
    created_at = models.DateTimeField(auto_now_add=True)
    used_at = models.DateTimeField(null=True)


class Identity(models.Model):
    """The account of a person at an OpenID provider, by the provider's number of the person (auth/oidc)."""

    issuer = models.CharField(max_length=300)
    subject = models.CharField(max_length=255)
    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="identity")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["issuer", "subject"], name="one_account_of_a_subject")]


class ApiToken(models.Model):
    """A token with which a script acts for an account. Only its hash is stored (auth/tokens.py)."""

    name = models.CharField(max_length=200)
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField()  # ["ingest:lab", "read", "operate"]
    # it never has more rights than this account
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]


class Arrangement(models.Model):
    """The panels of the run page as an account has arranged them (auth/arrangement_api.py)."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="arrangement")
    panels = models.JSONField()  # {"main": ["panel-gantt"], "side": ["panel-jobs"], "hidden": []}
