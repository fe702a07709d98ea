"""Provers of claims: each returns proof data that the re-checker reads."""
