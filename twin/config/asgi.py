"""HTTP and WebSocket of the web server: `uvicorn twin.config.asgi:application`."""

import asyncio
import os
import threading
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "twin.config.settings")
django.setup(set_prefix=False)

from twin.config.http import PooledHandler  # noqa: E402 (Django is set up first)

http = PooledHandler()


def _application() -> Any:
    from importlib import import_module

    from channels.auth import AuthMiddlewareStack
    from channels.routing import ProtocolTypeRouter, URLRouter
    from channels.security.websocket import AllowedHostsOriginValidator
    from django.conf import settings

    from twin.config.body_limit import BodyLimit

    # named in the settings: the twin does not import the dashboard
    routes = import_module(settings.WEBSOCKET_ROUTES).urlpatterns
    return ProtocolTypeRouter(
        {"http": BodyLimit(http), "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(routes)))}
    )


def _prepare() -> None:
    """Import of the schedulers in advance: otherwise the first page of a run waits for their solvers."""
    from scheduling.kernel.registry import schedulers
    from twin.infra import gc_control

    schedulers()
    gc_control.serve()


class Beating:
    """Application with a heartbeat that runs as long as the event loop responds."""

    def __init__(self, application: Any) -> None:
        self.application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        else:
            await self.application(scope, receive, send)

    async def _lifespan(self, receive: Any, send: Any) -> None:
        from django.conf import settings

        from twin.infra import tracing
        from twin.processes import heartbeat

        await receive()
        tracing.start(heartbeat.WEB)
        loop = asyncio.get_running_loop()
        asked: list[None] = []  # one for each beat since the loop came round

        def fault() -> str:
            asked.append(None)
            loop.call_soon_threadsafe(asked.clear)
            silent_s = len(asked) * heartbeat.BEAT_S
            return f"has not answered for {silent_s:g} s" if silent_s > settings.HUNG_S else ""

        beating = heartbeat.Pulse(heartbeat.WEB, fault).start()
        threading.Thread(target=_prepare, daemon=True).start()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        beating.stop()
        tracing.stop()
        await send({"type": "lifespan.shutdown.complete"})


application = Beating(_application())
