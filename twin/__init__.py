"""The Django project and the app that models the cluster, its scenarios and its runs."""

from twin.config.celery import app as celery_app

__all__ = ["celery_app"]
