"""From probabilities and words to labels: what a paper announces is told from what it is set against."""

from __future__ import annotations

import pytest

from search.text.announcements import announces, may_announce
from search.text.labels import decide
from search.types import FACETS, Facet

ANNOUNCED = (
    "We propose counterfactual adapters, a parameter-efficient method for debiasing language models.",
    "This paper presents a lattice model of grain growth based on phase fields.",
    "We ran a user study with 24 participants.",
    "We collected a corpus of 2,000 dialogues.",
    "Here we survey methods for causal discovery.",
    "We give a proof by induction on the number of colours using a discharging procedure.",
    "A randomised controlled trial was conducted in twelve hospitals.",
)
SET_AGAINST = (
    "Language models repeat social biases that are present in their data.",
    "Little is known about how grains grow in thin films.",
    "Previous work has mostly relied on parallel corpora.",
    "We know little about why these mutations persist.",
)


def likely(facet: Facet, probability: float = 0.7) -> list[float]:
    rest = (1 - probability) / (len(FACETS) - 1)
    return [probability if each is facet else rest for each in FACETS]


@pytest.mark.parametrize("text", ANNOUNCED)
def test_an_announcement_called_background_answers_to_the_method_and_is_never_sure_background(text):
    label = decide(text, likely(Facet.BACKGROUND))
    assert label.or_facet is Facet.METHOD
    assert may_announce(text)


@pytest.mark.parametrize("text", SET_AGAINST)
def test_a_problem_stays_background(text):
    assert not may_announce(text)
    assert decide(text, likely(Facet.BACKGROUND)) == decide("", likely(Facet.BACKGROUND))
    assert decide(text, likely(Facet.BACKGROUND)).or_facet is None


def test_own_doing_is_an_objective_though_the_model_says_background():
    assert announces("We study the diffusion of rumours.")
    assert decide("We study the diffusion of rumours.", likely(Facet.BACKGROUND)).facet is Facet.OBJECTIVE


def test_a_finding_is_not_a_method_because_we_show_it():
    assert decide("We show that error falls by half.", likely(Facet.RESULT)).or_facet is None


@pytest.mark.parametrize(
    ("text", "facet"),
    [
        ("We show that couplings lead to larger g-factors.", Facet.OBJECTIVE),
        ("We show it with a model that we train on simulated data.", Facet.METHOD),
        ("Couplings lead to larger g-factors.", Facet.METHOD),
    ],
)
def test_a_doubtful_method_that_is_only_claimed_is_none(text, facet):
    assert decide(text, [0.25, 0.1, 0.45, 0.15, 0.05]).facet is facet


def test_that_it_is_a_study_does_not_yet_say_how():
    text = "The present study aimed to explore why mice sleep."
    assert decide(text, likely(Facet.OBJECTIVE)).or_facet is None
    assert decide(f"{text} A cohort was interviewed.", likely(Facet.OBJECTIVE)).or_facet is Facet.METHOD


def test_a_label_below_one_half_is_doubted():
    doubted = decide("Noise.", [0.4, 0.1, 0.1, 0.3, 0.1])
    assert (doubted.facet, doubted.or_facet) == (Facet.BACKGROUND, Facet.RESULT)
    assert decide("Noise.", [0.1, 0.1, 0.45, 0.3, 0.05]).or_facet is Facet.RESULT
