"""What the dashboard itself keeps: one-time links to log in."""

from django.db import models


class LoginToken(models.Model):
    """A link that logs in once. Only the hash of the token is stored."""

    digest = models.CharField(max_length=64, unique=True)
    role = models.CharField(max_length=20)
    created_at = models.DateTimeField(auto_now_add=True)
    used_at = models.DateTimeField(null=True)
