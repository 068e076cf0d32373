"""Streams drawn from their definitions, one family a file."""
