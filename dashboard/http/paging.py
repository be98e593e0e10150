"""Paging of lists, with the total number of items."""

from typing import Any

from rest_framework.pagination import PageNumberPagination


class Paging(PageNumberPagination):
    """?page=&size="""

    page_size = 50
    page_size_query_param = "size"
    max_page_size = 500

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Schema of a page, whose addresses of the pages beside it may be null."""
        found: dict[str, Any] = super().get_paginated_response_schema(schema)
        for name in ("next", "previous"):
            found["properties"][name] = {"type": ["string", "null"], "format": "uri"}
        return found
