"""Several processes that train one model together, each on its own GPU or core; `torchrun` starts them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray
from torch import distributed, nn

PATIENCE = timedelta(hours=12)
"""How long a worker waits for the others: the first may compute hidden states for hours."""


def join_workers() -> None:
    """Connect to the other workers, if `torchrun` started any."""
    if int(os.environ.get("WORLD_SIZE", "1")) > 1 and not distributed.is_initialized():
        distributed.init_process_group(timeout=PATIENCE)


def workers() -> int:
    return distributed.get_world_size() if distributed.is_initialized() else 1


def worker() -> int:
    """The number of this worker; the first, 0, writes the files."""
    return distributed.get_rank() if distributed.is_initialized() else 0


@contextmanager
def first_worker_first() -> Iterator[None]:
    """The first worker runs the block alone; the others run it after that and find its results cached."""
    if workers() > 1 and worker() > 0:
        distributed.barrier()
    yield
    if workers() > 1 and worker() == 0:
        distributed.barrier()


def my_part(numbers: NDArray[np.int64]) -> list[int]:
    """This worker's examples of a batch; all examples if there are fewer than workers."""
    return list(numbers[worker() :: workers()] if len(numbers) >= workers() else numbers)


def share_gradients(model: nn.Module) -> None:
    """Replace the gradients by their mean over all workers."""
    if workers() > 1:
        gradients = [value.grad for value in model.parameters() if value.grad is not None]
        together = nn.utils.parameters_to_vector(gradients) / workers()
        distributed.all_reduce(together)
        nn.utils.vector_to_parameters(together, gradients)
