"""What encoders run on: graphics cards where there are any, else the processor's cores."""

from __future__ import annotations

import ctypes.util
import importlib.util
import os
import platform

from search.errors import ModelError


def find_devices(wanted: str) -> list[str]:
    """The devices to work on: the named (cpu, cuda, cuda:1, mps), else all cards there are, else the CPU."""
    if wanted == "cpu" or (not wanted and not may_have_card()):
        return ["cpu"]
    require_torch(f"The device {wanted!r}")
    from search.encoder.torch_model import find_cards

    cards = find_cards(wanted)
    if wanted and not cards:
        raise ModelError(f"There is no device {wanted!r} here; leave the setting empty, or use cpu.")
    return cards or ["cpu"]


def require_torch(what: str, instead: str = ", or use the default encoder on the processor") -> None:
    """Say which list to install where torch is missing, and what to do instead."""
    if any(importlib.util.find_spec(package) is None for package in ("torch", "transformers")):
        raise ModelError(
            f"{what} needs torch and transformers, which are not installed: run "
            f"`pip install -r requirements-torch.txt` (with an NVIDIA card: requirements-gpu.txt){instead}."
        )


def may_have_card() -> bool:
    """Whether it is worth asking torch for graphics cards: loading it takes seconds and 200 MB."""
    apple = platform.system() == "Darwin" and platform.machine() == "arm64"
    drivers = any(ctypes.util.find_library(name) for name in ("cuda", "nvcuda", "amdhip64"))
    return (apple or drivers) and importlib.util.find_spec("torch") is not None


def cores() -> int:
    """Processors this process may use; OMP_NUM_THREADS lowers it, as it does for torch."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(allowed, int(asked))) if asked.isdigit() else allowed
