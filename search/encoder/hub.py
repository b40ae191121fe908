"""Models on the Hugging Face hub, downloaded once."""

from __future__ import annotations

from pathlib import Path

from search.errors import ModelError


def fetch_from_hub(name: str) -> Path:
    """The folder of a model on the Hugging Face hub; downloaded once, then found without a network."""
    from huggingface_hub import snapshot_download

    small, skipped = ["*.json", "*.txt", "*.model"], ["onnx/*", "openvino/*"]
    try:
        wanted = [*small, "model*.safetensors"]
        folder = Path(snapshot_download(name, allow_patterns=wanted, ignore_patterns=skipped))
        if not any(folder.glob("*.safetensors")):
            snapshot_download(name, allow_patterns="pytorch_model*.bin")
    except Exception as error:  # the hub's client lets errors of several libraries through
        raise ModelError(
            f"The model {name!r} could not be fetched from the Hugging Face hub ({type(error).__name__}); "
            "check its name and the network, or give the folder of a copy."
        ) from error
    return folder
