"""Paging of lists, with the total number of items."""

from rest_framework.pagination import PageNumberPagination


class Paging(PageNumberPagination):
    """?page=&size="""

    page_size = 50
    page_size_query_param = "size"
    max_page_size = 500
