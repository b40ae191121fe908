"""A corpus opened for searching: its served build, or the newest sound one where that is damaged."""

from __future__ import annotations

from dataclasses import dataclass, replace

from search.corpus.checksums import DamagedError
from search.corpus.served import Corpus, Served
from search.encoder import Encoder, ModelFolders, load_encoder
from search.errors import CorpusError
from search.settings import Settings
from search.text.tokenizer import TOKENIZER
from search.types import Progress

PATIENCE = 0.5
"""Seconds that opening a corpus waits for the look at its files, which goes on in the background: enough for
some hundred megabytes, and the model takes longer to load. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a build comes from, to open another of the same corpus."""

    corpus: Corpus
    settings: Settings
    damage: dict[str, str]
    """What is wrong with builds that were passed over, by their names."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A build, and the encoder that made it."""

    store: Served
    encoder: Encoder
    origin: Origin
    notice: str
    """What users should know: that this build stands in for a damaged one."""


def open_sound(origin: Origin, progress: Progress | None = None) -> Opened:
    """The first build that is not known to be damaged."""
    corpus, damage = origin.corpus, dict(origin.damage)
    builds = corpus.builds()
    for build in builds:
        if build in damage:
            continue
        try:
            store, encoder = _open_build(corpus, build, origin.settings, progress)
        except DamagedError as error:
            damage[build] = str(error)
            continue
        except CorpusError:
            if not damage:
                raise
            continue  # an older build of another encoder cannot stand in
        passed_over = damage and build != builds[0]
        notice = corpus.notice_of(next(iter(damage.values())), store.manifest) if passed_over else ""
        return Opened(store, encoder, replace(origin, damage=damage), notice)
    raise DamagedError(next(iter(damage.values())))


def _open_build(
    corpus: Corpus, build: str, settings: Settings, progress: Progress | None
) -> tuple[Served, Encoder]:
    manifest = corpus.manifest(build)
    manifest.require_tokenizer(TOKENIZER)
    store = corpus.open(build, manifest)
    try:
        folders = ModelFolders(settings.pretrained, settings.fine_tuned, settings.labeller)
        encoder = load_encoder(settings.encoder, settings.device, folders, progress)
        manifest.require_encoder(encoder.id, settings.encoder)
        store.health.wait(PATIENCE)
        if store.health.damage:
            raise DamagedError(store.health.damage)
        return store, encoder
    except BaseException:
        store.close()
        raise
