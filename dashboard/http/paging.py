"""Paging of lists, with the total number of items."""

from typing import Any

from django.core.paginator import Paginator
from rest_framework.exceptions import NotFound
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request

from dashboard.query import number


class Paging(PageNumberPagination):
    """?page=&size="""

    page_size = 50
    page_query_description = "Page, from 1"
    page_size_query_description = "Rows per page"
    page_size_query_param = "size"
    max_page_size = 500

    def get_page_size(self, request: Request) -> int:
        """Rows on a page; ModelError for a size that no page can have."""
        return number(request.query_params, self.page_size_query_param, self.page_size, 1, self.max_page_size)

    def get_page_number(self, request: Request, paginator: Paginator) -> int:
        """Number of the page; NotFound for one after the last."""
        page = number(request.query_params, self.page_query_param, 1, 1, 2**53)
        if page > paginator.num_pages:
            raise NotFound(
                f"page must be from 1 to {paginator.num_pages:,}, got {page:,}: the list has {paginator.count:,} "
                f"{'row' if paginator.count == 1 else 'rows'}, {paginator.per_page:,} on a page."
            )
        return page

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Schema of a page, whose addresses of the pages beside it may be null."""
        found: dict[str, Any] = super().get_paginated_response_schema(schema)
        for name in ("next", "previous"):
            found["properties"][name] = {"type": ["string", "null"], "format": "uri"}
        return found
