"""HTTP and WebSocket of the web server: `uvicorn twin.asgi:application`."""

import os
from typing import Any

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "twin.settings")
http = get_asgi_application()


def _application() -> Any:
    from importlib import import_module

    from channels.auth import AuthMiddlewareStack
    from channels.routing import ProtocolTypeRouter, URLRouter
    from channels.security.websocket import AllowedHostsOriginValidator
    from django.conf import settings

    from twin.body_limit import BodyLimit

    routes = import_module(settings.WEBSOCKET_ROUTES).urlpatterns  # named in the settings: the twin does not import the dashboard
    return ProtocolTypeRouter(
        {"http": BodyLimit(http), "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(routes)))}
    )


application = _application()
