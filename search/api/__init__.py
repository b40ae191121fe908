"""The HTTP API: `/api/v1`, the same answers as the pages and the command line, from the same engine."""

PREFIX = "/api/v1"
