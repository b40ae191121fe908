"""Encoding and labelling on a Ray cluster: texts in shards, each kept with its vectors as soon as it is done.

Takes the place of an encoder in `index_build.steps`: what comes out goes into the cache as ever. The work
lies in any folder that Arrow can write, here or in an object store; a run that was killed goes on there.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from search.encoder import Encoder, ModelFolders, load_encoder
from search.errors import SettingsError
from search.settings import Settings
from search.types import FACETS, Document, Encoded, Progress

REQUIREMENTS = "requirements-ray.txt"
SHARD = 512
"""Papers of a shard, which a killed run loses at most for each worker. A multiple of what an encoder reads
ahead, so that its batches are those of a run without Ray."""
ROOT = Path(__file__).resolve().parent.parent
TODO, DONE = "todo", "done"


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a worker needs to load the encoder of the settings."""

    encoder: str
    device: str
    folders: ModelFolders

    @classmethod
    def of(cls, settings: Settings) -> Recipe:
        folders = ModelFolders(settings.pretrained, settings.fine_tuned, settings.labeller)
        return cls(settings.encoder, settings.device, folders)

    def load(self, report: Progress | None = None) -> Encoder:
        return load_encoder(self.encoder, self.device, self.folders, report)


class RayEncoder:
    """Encodes on the workers of a cluster; the model is loaded here only to say what it is."""

    def __init__(
        self, settings: Settings, storage: str, address: str = "", report: Progress | None = None
    ) -> None:
        """`storage` is a folder or an address that Arrow knows; `address` a cluster's, empty for one here."""
        if not address:
            _prepare()
        _require_ray()
        self._recipe, self._address = Recipe.of(settings), address
        self._report = report or (lambda step, done, total: None)
        model = self._recipe.load(report)
        self.id, self.facets_id, self.dimension = model.id, model.facets_id, model.dimension
        self._files, self._base = _storage(storage, self.id)
        self.spent = 0.0
        """Seconds that workers took for encoding alone, all together."""

    def encode(self, documents: Iterable[Document]) -> Iterator[Encoded]:
        places = self._spread(documents)
        todo = sorted({shard for shard, _ in places} - self._shards(DONE))
        if todo:
            self._run(todo)
        opened: tuple[str, list[Encoded]] = ("", [])
        for shard, place in places:
            if opened[0] != shard:
                opened = shard, self._read(shard)
            yield opened[1][place]

    def clear(self) -> None:
        """Once the vectors are in the cache, the shards have done their work."""
        self._files.delete_dir_contents(self._base, missing_dir_ok=True)

    # -- shards

    def _spread(self, documents: Iterable[Document]) -> list[tuple[str, int]]:
        """Where each document is or will be: its shard and its place in it. New ones are written."""
        known = {
            key: (shard, place)
            for shard in sorted(self._shards(DONE))
            for place, key in enumerate(self._column(DONE, shard, "key"))
        }
        places: list[tuple[str, int]] = []
        fresh: list[Document] = []
        waiting: list[int] = []
        for document in documents:
            key = key_of(document)
            if key in known:
                places.append(known[key])
                continue
            waiting.append(len(places))
            places.append(("", len(fresh)))
            fresh.append(document)
            if len(fresh) == SHARD:
                self._put(fresh, waiting, places)
        if fresh:
            self._put(fresh, waiting, places)
        return places

    def _put(self, documents: list[Document], waiting: list[int], places: list[tuple[str, int]]) -> None:
        keys = [key_of(document) for document in documents]
        shard = hashlib.blake2b(b"".join(keys), digest_size=12).hexdigest()
        for place in waiting:
            places[place] = shard, places[place][1]
        table = pa.table(
            {
                "key": pa.array(keys, pa.binary()),
                "title": pa.array([document.title for document in documents], pa.string()),
                "sentences": pa.array([list(each.sentences) for each in documents], pa.list_(pa.string())),
            }
        )
        write(self._files, f"{self._base}/{TODO}/{shard}.parquet", table)
        documents.clear()
        waiting.clear()

    def _shards(self, kind: str) -> set[str]:
        folder = pafs.FileSelector(f"{self._base}/{kind}", allow_not_found=True)
        found = self._files.get_file_info(folder)
        return {info.base_name[: -len(".parquet")] for info in found if info.extension == "parquet"}

    def _column(self, kind: str, shard: str, name: str) -> list[Any]:
        path = f"{self._base}/{kind}/{shard}.parquet"
        return list(pq.read_table(path, columns=[name], filesystem=self._files).column(0).to_pylist())

    def _read(self, shard: str) -> list[Encoded]:
        table = pq.read_table(f"{self._base}/{DONE}/{shard}.parquet", filesystem=self._files)
        return [from_bytes(record, self.dimension) for record in table.column("record").to_pylist()]

    # -- the cluster

    def _run(self, shards: Sequence[str]) -> None:
        import ray

        if not ray.is_initialized():
            _connect(ray, self._address)
        resources = ray.cluster_resources()
        gpus, cpus = int(resources.get("GPU", 0)), int(resources.get("CPU", 1))
        # One processor is left for reading and for Ray itself: workers on all of them wait for each other.
        workers = min(len(shards), gpus or max(1, cpus - 1))
        needs = {"num_gpus": 1} if gpus else {"num_cpus": 1 if cpus > 1 else 0.5}
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        paths = [{"shard": shard} for shard in shards]
        done = ray.data.from_items(paths, override_num_blocks=len(paths)).map_batches(
            EncodeShard,
            fn_constructor_args=(self._recipe, self._files, self._base),
            batch_size=1,
            compute=ray.data.ActorPoolStrategy(size=workers),
            **needs,
        )
        papers = 0
        total = SHARD * len(shards)
        for row in done.iter_rows():
            papers += int(row["papers"])
            self.spent += float(row["seconds"])
            self._report("encode", min(papers, total), total)


class EncodeShard:
    """One worker: its encoder, and the shards it is given."""

    def __init__(self, recipe: Recipe, files: pafs.FileSystem, base: str) -> None:
        self._encoder = on_one_core(recipe.load())
        self._files, self._base = files, base

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        found = [self._encode(str(shard)) for shard in batch["shard"]]
        papers, seconds = zip(*found, strict=True)
        return {"papers": np.array(papers), "seconds": np.array(seconds)}

    def _encode(self, shard: str) -> tuple[int, float]:
        table = pq.read_table(f"{self._base}/{TODO}/{shard}.parquet", filesystem=self._files)
        titles, sentences = table.column("title").to_pylist(), table.column("sentences").to_pylist()
        documents = [Document(title, tuple(texts)) for title, texts in zip(titles, sentences, strict=True)]
        begun = time.perf_counter()
        records = [to_bytes(encoded) for encoded in self._encoder.encode(documents)]
        spent = time.perf_counter() - begun
        made = pa.table({"key": table.column("key"), "record": pa.array(records, pa.binary())})
        write(self._files, f"{self._base}/{DONE}/{shard}.parquet", made)
        return len(documents), spent


def on_one_core(encoder: Encoder) -> Encoder:
    """On processors an encoder takes all cores; each worker has one. A worker with a card sees that alone."""
    labels = on_one_core(encoder.labels) if encoder.labels else None
    return Encoder(encoder.id, encoder.packer, encoder.models[:1], encoder.facets_id, labels)


def key_of(document: Document) -> bytes:
    joined = "\x1e".join((document.title, *document.sentences))
    return hashlib.blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def to_bytes(encoded: Encoded) -> bytes:
    """Paper [d], sentences [n, d], facets [n, 5] as the encoder gave them, in 32 bits."""
    parts = (encoded.paper, encoded.sentences.ravel(), encoded.facets.ravel())
    return np.concatenate(parts).astype("<f4").tobytes()


def from_bytes(record: bytes, dimension: int) -> Encoded:
    numbers = np.frombuffer(record, "<f4")
    count = (len(numbers) - dimension) // (dimension + len(FACETS))
    paper, sentences, facets = np.split(numbers, [dimension, dimension * (1 + count)])
    return Encoded(sentences.reshape(count, dimension), paper, facets.reshape(count, len(FACETS)))


def write(files: pafs.FileSystem, path: str, table: pa.Table) -> None:
    """A file that is there is whole: it gets its name when all of it is written."""
    files.create_dir(path.rpartition("/")[0], recursive=True)
    draft = f"{path}.part-{os.getpid()}"
    pq.write_table(table, draft, filesystem=files, compression="zstd")
    files.move(draft, path)


def _storage(storage: str, encoder: str) -> tuple[pafs.FileSystem, str]:
    """The file system and the folder in it, one for each encoder."""
    place = storage if "://" in storage else Path(storage).resolve().as_uri()
    try:
        files, base = pafs.FileSystem.from_uri(place)
    except (pa.ArrowException, OSError) as error:
        raise SettingsError(
            f"The storage {storage!r} cannot be used ({error}): name a folder or s3://..."
        ) from None
    name = hashlib.blake2b(encoder.encode(), digest_size=8).hexdigest()
    return files, f"{base.rstrip('/')}/{name}"


def _prepare() -> None:
    """What a cluster of this machine is to be like; Ray reads it when it is first imported.

    It listens on every address and runs what it is sent, so only who knows a token gets in. By itself it
    gives its workers almost the lowest priority: beside other work they hardly run, and it starts in minutes.
    """
    os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))
    os.environ.setdefault("RAY_worker_niceness", "0")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")


def _require_ray() -> None:
    try:
        import ray.data  # noqa: F401
    except ImportError:
        raise SettingsError(
            f"Encoding on Ray needs the package ray, which is missing: run `pip install -r {REQUIREMENTS}`."
        ) from None


def _connect(ray: Any, address: str) -> None:
    """A cluster elsewhere gets this software sent; workers on this machine read it from here."""
    if address:
        modules = [str(ROOT / "search"), str(ROOT / "index_build")]
        ray.init(address=address, runtime_env={"py_modules": modules}, logging_level="ERROR")
        return
    path = os.pathsep.join(each for each in (str(ROOT), os.environ.get("PYTHONPATH", "")) if each)
    os.environ["PYTHONPATH"] = path
    ray.init(include_dashboard=False, logging_level="ERROR", log_to_driver=False)
