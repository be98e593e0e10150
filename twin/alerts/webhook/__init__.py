"""Notices of alerts to a receiver over HTTP: kept in the database until they are delivered, at least once each."""
