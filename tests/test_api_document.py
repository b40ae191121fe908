"""The served OpenAPI document against the implementation, by schemathesis on loopback.

Longer by hand: `TRIPTYCH_EXAMPLES=500 python -m pytest tests/test_api_document.py`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as hypothesis_settings

from search.api.document import make_document
from search.api.operations import OPERATIONS
from search.api.schemas import SCHEMAS
from search.api.surroundings import alone
from search.settings import Settings
from tests.api_client import Served, served
from tests.miniature import build_miniature

schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis: requirements-dev.txt")
checks = pytest.importorskip("schemathesis.specs.openapi.checks")
OPEN = ("/health", "/ready", "/feeds/{search}")
EXAMPLES = int(os.environ.get("TRIPTYCH_EXAMPLES", "12"))


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("document")
    settings = Settings(corpus=build_miniature(folder / "corpus"), library=folder / "library")
    with served(alone(settings, 1_000_000)) as running:
        yield running


@pytest.fixture(scope="module")
def schema(api: Served):
    return schemathesis.openapi.from_url(f"{api.url}/openapi.json")


@pytest.mark.slow
@pytest.mark.parametrize("operation", [f"{each.method} {each.path}" for each in OPERATIONS])
@pytest.mark.parametrize("mode", ["positive", "negative"])
def test_no_undocumented_status_and_no_fault(api: Served, schema, operation: str, mode: str) -> None:
    method, path = operation.split()
    modes = schemathesis.GenerationMode
    wanted = modes.POSITIVE if mode == "positive" else modes.NEGATIVE
    described = schema[path][method]

    @given(case=described.as_strategy(generation_mode=wanted))
    @hypothesis_settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def check(case) -> None:
        # A query needs words and known ids, which no schema can say: 400 with a sentence is a right answer.
        case.call_and_validate(base_url=api.url, excluded_checks=[checks.positive_data_acceptance])

    try:
        check()
    except Exception as error:
        if mode == "negative" and "Unsatisfiable" in type(error).__name__ + str(error):
            pytest.skip("this operation takes nothing that could be wrong")
        raise


def test_the_document_is_whole() -> None:
    document = make_document("/api/v1", keys=True)
    assert document["openapi"] == "3.1.0"
    assert set(document["paths"]) == {each.path for each in OPERATIONS} | {"/openapi.json"}
    used = {each.gives for each in OPERATIONS} | {each.takes for each in OPERATIONS}
    assert used - {""} <= set(SCHEMAS)
    for path, methods in document["paths"].items():
        for described in methods.values():
            assert ("401" in described["responses"]) == (path not in OPEN), path
