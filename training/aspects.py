"""Trains the default encoder to match sentences by what they say: graded pools, a teacher, co-citations.

Every step takes one graded pool (rank it as it was graded, and relate its sentences as the teacher does) and
one batch of co-cited pairs (find the paper that the same sentence cites). A run that was stopped goes on
where its last checkpoint was; everything is fixed by the seed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModel

from evaluation.pools import facet_positions, read_csfcube
from search.aspects import read_aspects, save_aspects
from search.encoding import load_encoder
from search.presets import find_weights
from search.tokens import Document
from training.aspect_data import (
    JUDGEMENTS,
    Aligned,
    Corpus,
    Graded,
    Pool,
    Words,
    align,
    ask_more,
    make_corpus,
    make_pools,
    mine_neighbours,
    read_graded,
    read_judged,
)
from training.aspect_loop import AspectTrainer, Checks, CocitedTest, TrainingSet, train
from training.aspect_model import UpperLayers
from training.aspect_plan import RECIPES, AspectRecipe
from training.cited import AMONG, TESTS, held_out, may_learn, read_few_cocited, read_partners
from training.papers import (
    CITED,
    CITING,
    COCITED,
    read_citing,
    read_cocited,
    read_documents,
)
from training.states import LowerLayers
from training.teacher import Vectors, encode_all
from training.telling import progress_of, say

UNTRAINED = {"default": "untrained", "quality": "quality-untrained"}
ALL = 999
"""More candidates than a pool has."""
MAPPED = 1024
"""Papers the first guess of the mapping to the teacher's vectors is made from."""

Encode = Callable[[Sequence[Document]], Vectors]


def graded_set(
    data: Path,
    corpus_of: Callable[..., Corpus],
    label: Encode,
    judgements: Path,
    zeros: int = ALL,
    more: bool = False,
) -> tuple[Corpus, list[Pool], list[Pool]]:
    """Graded pools, to learn from and to score; none of CSFCube's papers.

    With `more` there are as many again for the teacher to rank.
    """
    graded = [one if one.held_out else one.with_zeros(zeros) for one in read_graded(judgements)]
    documents = read_judged(data, graded)
    corpus, words = corpus_of(documents), Words(documents)
    labelled = label(corpus.documents)
    seen, unseen = (
        make_pools([one for one in graded if one.held_out == held_out], corpus, words, labelled)
        for held_out in (False, True)
    )
    return corpus, seen + (ask_more(seen, corpus, words, labelled, len(seen)) if more else []), unseen


def cited_set(
    data: Path, corpus_of: Callable[..., Corpus], encode: Encode, citing: int = 0, seed: int = 0
) -> TrainingSet:
    """Co-cited pairs to learn from, and so many of citing and cited papers; none with a held-out paper.

    Negatives are near by vector or by words and linked to the first paper in no way.
    """
    cocited = [pair for pair in read_few_cocited(data) if may_learn(pair.first, pair.second)]
    links = read_citing(data / CITING)
    citations = [pair for pair in links if may_learn(*pair)]
    chosen = np.random.default_rng([seed, 3]).permutation(len(citations))[:citing]
    citations = [citations[number] for number in chosen]
    named = [(pair.first, pair.second) for pair in cocited] + citations
    documents = read_documents(data / CITED, {paper for pair in named for paper in pair})
    corpus, words = corpus_of(documents), Words(documents)
    sentences = encode(corpus.documents)
    contexts = encode([Document("", (pair.contexts[0],)) for pair in cocited])
    pairs = align(cocited, corpus, contexts, sentences)
    pairs += [
        Aligned(corpus.place[one], corpus.place[other])
        for one, other in citations
        if corpus.has(one) and corpus.has(other)
    ]
    links += [(pair.first, pair.second) for pair in read_cocited(data / COCITED)]
    places = [(corpus.place[a], corpus.place[b]) for a, b in links if {a, b} <= corpus.place.keys()]
    linked = {edge for a, b in places for edge in ((a, b), (b, a))}
    wholes, ids = sentences.papers.astype(np.float32), list(documents)

    def by_words(paper: int) -> NDArray[np.float32]:
        document = corpus.documents[paper]
        return words.likeness(document, range(len(document.sentences)), ids)

    mined = [
        mine_neighbours(pairs, likeness, linked)
        for likeness in (lambda paper: wholes @ wholes[paper], by_words)
    ]
    negatives = [
        [paper for paper in dict.fromkeys(near + alike) if corpus.window[paper] >= 0]
        for near, alike in zip(*mined, strict=True)
    ]
    return TrainingSet((), corpus, pairs, negatives)


def cocited_test(data: Path, corpus_of: Callable[..., Corpus]) -> CocitedTest:
    """Held-out papers whose partner is to be found among a thousand papers that are co-cited, too."""
    random = np.random.default_rng(17)
    pairs = read_few_cocited(data)
    partners = read_partners(data)
    unseen = held_out(pairs)
    unseen = [unseen[number] for number in random.permutation(len(unseen))[:TESTS]]
    documents = read_documents(data / CITED, {paper for pair in pairs for paper in (pair.first, pair.second)})
    others = [list(documents)[number] for number in random.permutation(len(documents))[: 2 * AMONG]]
    needed = {*others, *(paper for pair in unseen for paper in (pair.first, pair.second))}
    corpus = corpus_of({paper: one for paper, one in documents.items() if paper in needed}, False)
    pairs = [pair for pair in unseen if corpus.has(pair.first) and corpus.has(pair.second)]
    pool = list(dict.fromkeys(pair.second for pair in pairs))
    pool += [paper for paper in others if paper not in set(pool) and corpus.has(paper)][: AMONG - len(pool)]
    queries = [(corpus.place[pair.first], corpus.place[pair.second]) for pair in pairs]
    place = {paper: corpus.place[paper] for paper in pool}
    return CocitedTest(
        corpus,
        queries,
        list(place.values()),
        {
            corpus.place[pair.first]: frozenset(place[each] for each in partners[pair.first] & place.keys())
            for pair in pairs
        },
    )


def development_set(data: Path, corpus_of: Callable[..., Corpus], label: Encode) -> tuple[Corpus, list[Pool]]:
    """CSFCube's development queries, for scoring only."""
    collection = read_csfcube(data / "csfcube")
    documents = {
        paper.id: Document(paper.title, tuple(one.text for one in paper.sentences))
        for paper in collection.papers.values()
    }
    graded = [
        Graded(
            query.paper_id,
            str(query.facet),
            facet_positions(collection.papers[query.paper_id], query.facet),
            query.grades,
        )
        for fold in collection.chosen("dev")
        for query in fold
    ]
    needed = {paper for one in graded for paper in (one.query, *one.grades)}
    corpus = corpus_of({paper: documents[paper] for paper in documents if paper in needed}, False)
    return corpus, make_pools(graded, corpus, Words(documents), label(corpus.documents))


def first_mapping(corpus: Corpus, student: Vectors) -> torch.Tensor:
    """Student vectors -> the teacher's by ridge regression: where the mapping starts. [d, D]"""
    assert corpus.teacher is not None
    ours = student.sentences.astype(np.float32)
    theirs = corpus.teacher.sentences[: len(ours)].astype(np.float32)
    return torch.from_numpy(np.linalg.solve(ours.T @ ours + np.eye(ours.shape[1]), ours.T @ theirs)).float()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", type=Path, required=True, help="folder with the ACL and citation files, csfcube/"
    )
    parser.add_argument(
        "--judgements", type=Path, nargs="+", default=JUDGEMENTS, help="graded pools (default: the shipped)"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("build/aspects"), help="weights, checkpoint, run.json"
    )
    parser.add_argument("--cache", type=Path, default=Path("build/aspects-cache"), help="vectors and states")
    parser.add_argument("--teacher", default="quality", help="preset or folder of the larger encoder")
    parser.add_argument("--encoder", choices=RECIPES, default="default", help="the preset that is trained")
    parser.add_argument("--start", type=Path, help="folder of aspect weights to go on from")
    parser.add_argument("--pools", type=int, help="learn from so many pools only")
    parser.add_argument("--no-first-score", action="store_true", help="do not score the untrained encoder")
    parser.add_argument("--no-cocited", action="store_true", help="do not score co-cited papers")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    for field in fields(AspectRecipe):
        defaults = ", ".join(f"{getattr(recipe, field.name)} ({name})" for name, recipe in RECIPES.items())
        kind = type(field.default)
        parser.add_argument(f"--{field.name}", type=kind, help=f"default: {defaults}")


def run(args: argparse.Namespace) -> int:
    torch.set_num_threads(args.threads)
    device = torch.device(args.device)
    args.out.mkdir(parents=True, exist_ok=True)
    given = {field.name: getattr(args, field.name) for field in fields(AspectRecipe)}
    recipe = replace(
        RECIPES[args.encoder], **{name: value for name, value in given.items() if value is not None}
    )
    folder = find_weights(UNTRAINED[args.encoder]).folder
    encoder = AutoModel.from_pretrained(folder, local_files_only=True, add_pooling_layer=False)
    torch.manual_seed(recipe.seed)
    layer = encoder.config.num_hidden_layers - recipe.upper
    model = UpperLayers(encoder, layer, recipe.dropout, recipe.rank)
    lower = LowerLayers.cut(encoder.to(device), folder, layer)
    teach = _encoding(args.teacher, args.cache / "teacher") if recipe.needs_teacher() else None
    plain = _encoding("untrained", args.cache / "plain")

    def corpus_of(documents: Mapping[str, Document], taught: bool = True) -> Corpus:
        return make_corpus(
            documents, lower, args.cache / "states", progress_of(say), teach if taught else None
        )

    checks = Checks({"dev": development_set(args.data, corpus_of, plain)}, None)
    if not args.no_cocited:
        checks = replace(checks, cocited=cocited_test(args.data, corpus_of))
    rounds = [
        graded_set(args.data, corpus_of, plain, file, recipe.zeros, recipe.ranked > 0)
        for file in args.judgements
    ]
    for number, (corpus, _, unseen) in enumerate(rounds, start=1):
        checks.pools[f"held_out_{number}"] = corpus, unseen
    pools = [(corpus, pool) for corpus, seen, _ in rounds for pool in seen]
    data = TrainingSet(pools[: args.pools])
    if recipe.needs_pairs():
        cited = cited_set(args.data, corpus_of, plain, recipe.citing, recipe.seed)
        data = replace(cited, pools=data.pools)
    first = rounds[0][0]
    mapping = first_mapping(first, plain(first.documents[:MAPPED])) if teach else torch.zeros(1, 1)
    say(f"{len(data.pools)} pools and {len(data.pairs)} pairs to learn from")
    trainer = AspectTrainer(recipe, model, mapping, device)
    if args.start:
        trainer.begin_with(read_aspects(args.encoder, args.start).tensors)
    trained = train(trainer, data, checks, args.out, say, not args.no_first_score)
    made = save_aspects(trained.tensors(), args.out, {"recipe": asdict(recipe)}, args.encoder)
    say(f"saved {made} in {args.out}")
    return 0


def _encoding(name: str, folder: Path) -> Encode:
    """Vectors with the labels of the encoder itself, kept in the folder."""

    def encode(documents: Sequence[Document]) -> Vectors:
        encoder = load_encoder(name)
        return encode_all(documents, encoder.without_labels(), folder, say)

    return encode
