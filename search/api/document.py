"""The OpenAPI 3.1 document, made from the table of operations."""

from __future__ import annotations

from typing import Any

from search import __version__
from search.api import problems
from search.api.operations import OPERATIONS, Operation, Parameter
from search.api.schemas import SCHEMAS, ref

_ALWAYS = {
    400: "Something in the request cannot be used; `detail` says what",
    403: "This host name or origin is not answered, or this host keeps no searches",
    429: "Too many requests: `Retry-After` says when to go on",
    500: "A fault of the server, with a reference to its log",
    503: "No corpus can be searched now, or too much is asked at once: `Retry-After` says when to try again",
}
_ERRORS = {
    401: "A key is asked for: `Authorization: Bearer KEY`",
    404: "There is no such paper or kept search",
    408: "The body did not come in time",
    410: "The cursor is of an earlier build: begin again",
    413: "The body is too large",
    415: "The body is not JSON, or is compressed",
}
_EVERYWHERE = (400, 403, 429, 500, 503)


def make_document(server: str, keys: bool) -> dict[str, Any]:
    """`server` is the path of the API as clients reach it; `keys` whether one is asked for."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, keys)
    paths["/openapi.json"] = {"get": _own(keys)}
    components: dict[str, Any] = {"schemas": SCHEMAS}
    if keys:
        components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Triptych",
            "version": __version__,
            "summary": "Search the literature by the part that matters: background, method or result.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": server}],
        "paths": paths,
        "components": components,
    }


def _operation(operation: Operation, keys: bool) -> dict[str, Any]:
    secured = keys and operation.needs_key
    timed = (408,) if operation.takes else ()
    errors = {*_EVERYWHERE, *operation.errors, *timed, *((401,) if secured else ())}
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [_parameter(each) for each in operation.parameters],
        "responses": _responses(operation) | {str(status): _refusal(status) for status in sorted(errors)},
    }
    if operation.takes:
        content = {"application/json": {"schema": ref(operation.takes)}}
        described["requestBody"] = {"required": True, "content": content}
    return described | ({"security": [{"key": []}]} if secured else {})


def _responses(operation: Operation) -> dict[str, Any]:
    def shape(media: str) -> dict[str, Any]:
        text = {"type": "array"} if media.endswith("+json") else {"type": "string"}
        return {"schema": ref(operation.gives) if operation.gives else text}

    answer: dict[str, Any] = {"description": operation.summary}
    if operation.media:
        answer["content"] = {media: shape(media) for media in operation.media}
    responses = {str(operation.status): answer}
    if operation.tagged and operation.method == "GET":
        responses["304"] = {"description": "Unchanged since the answer with this ETag"}
    return responses


def _parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": parameter.place,
        "description": parameter.description,
        "required": parameter.required,
        "schema": parameter.schema,
    }


def _refusal(status: int) -> dict[str, Any]:
    return {
        "description": (_ALWAYS | _ERRORS)[status],
        "content": {problems.MEDIA: {"schema": ref("Problem")}},
    }


def _own(keys: bool) -> dict[str, Any]:
    """The document describes itself, too."""
    errors = [*_EVERYWHERE, *((401,) if keys else ())]
    answer = {"description": "This document", "content": {"application/json": {"schema": {"type": "object"}}}}
    responses = {"200": answer, "304": {"description": "Unchanged"}}
    described = {
        "operationId": "document",
        "summary": "This document",
        "responses": responses | {str(status): _refusal(status) for status in sorted(errors)},
    }
    return described | ({"security": [{"key": []}]} if keys else {})
