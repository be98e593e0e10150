"""Descriptions of operations in OpenAPI: those of one object are not those of the list."""

from __future__ import annotations

from drf_spectacular.openapi import AutoSchema

OF_ONE = {"retrieve": "One {noun}.", "destroy": "Deletion of the {noun}."}  # actions of mixins, which say nothing


class Schema(AutoSchema):
    """Schema of an operation; a view set names its objects by `noun`."""

    def get_description(self) -> str:
        action = getattr(self.view, "action", None) or ""
        noun = getattr(self.view, "noun", "")
        method = getattr(self.view, action, None) if action in OF_ONE else None
        if noun and method is not None and not method.__doc__:
            return OF_ONE[action].format(noun=noun)
        return str(super().get_description())
