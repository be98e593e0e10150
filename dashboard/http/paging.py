"""Lists come in pages that say how many there are in all."""

from rest_framework.pagination import PageNumberPagination


class Paging(PageNumberPagination):
    """?page=&size="""

    page_size = 50
    page_size_query_param = "size"
    max_page_size = 500
