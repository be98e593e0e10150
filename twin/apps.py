from django.apps import AppConfig


class TwinConfig(AppConfig):
    name = "twin"
    default_auto_field = "django.db.models.BigAutoField"
