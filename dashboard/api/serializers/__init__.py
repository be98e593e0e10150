"""Serializers of the API, by what they state."""
