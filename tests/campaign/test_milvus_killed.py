"""The short form of `python -m tests.campaign milvus`, with the small server."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.campaign import milvus
from tests.campaign.tally import Effort
from tests.milvus_servers import needs_small


@needs_small
@pytest.mark.slow
def test_a_server_that_was_killed_serves_what_it_served_and_the_rest_goes_on(tmp_path: Path) -> None:
    assert milvus.run(Effort(1, 3, tmp_path), "small").failures == []
