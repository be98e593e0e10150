"""WebSocket URLs."""

from django.urls import path, re_path

from dashboard.live.consumers import NowhereConsumer, OverviewConsumer, RunConsumer

urlpatterns = [
    path("ws/runs/<int:run_id>/", RunConsumer.as_asgi()),
    path("ws/overview/", OverviewConsumer.as_asgi()),
    re_path("", NowhereConsumer.as_asgi()),
]
