"""All URLs are the dashboard's."""

from django.urls import include, path

urlpatterns = [path("", include("dashboard.urls"))]
handler400 = "dashboard.pages.errors.bad_request"
handler403 = "dashboard.pages.errors.forbidden"
handler404 = "dashboard.pages.errors.not_found"
handler500 = "dashboard.pages.errors.server_error"
