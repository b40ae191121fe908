"""What a paper announces: sentences in which it says what it does itself, and whether they name how.

A labeller that learnt from annotators calls "We propose adapters, a parameter-efficient method" background or
objective as often as method. Words decide what probabilities leave open: a sentence in which a paper speaks
of its own doing is never what it is set against, and one that names a procedure or a thing that was made, a
study, a data set, a survey or a proof answers to its method as well.
"""

from __future__ import annotations

import math
import re

_NOT_DOING = (
    "know|knew|need|needs|have|had|are|were|live|believe|believed|think|understand|understood|see|saw|lack|can|"
    "cannot|could|may|might|must|should|often|still|want|hope|do|did|don|face|rely|call|now know|already know"
)
"""What "we" does as people do, not as authors: "we know little", "we live in"."""
_OWN = re.compile(
    rf"\b(?:we|i)\b(?! (?:{_NOT_DOING})\b)(?= [a-z])"
    r"|\b(?:this|the present|the current|our) (?:[a-z-]+ )?(?:paper|work|article|study|letter|thesis|"
    r"dissertation|report|survey|review|note|tutorial|contribution|chapter|manuscript|essay|trial|"
    r"investigation|project|research|approach|method|framework|system|model|algorithm|experiments?|analysis|"
    r"analyses|goal|aim|objective|purpose)\b|\b(?:aims?|aimed|purpose|objective|goal) (?:of (?:this|our|"
    r"the present|the current)|was to|is to|were to)\b|^(?:here|herein|hereby|to (?:this|that) (?:end|aim))\b"
    r"|\b(?:is|are) (?:[a-z]+ly )?(?:proposed|presented|introduced|described|reported|developed|reviewed|"
    r"surveyed)\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(?:was|were) (?:[a-z]+ly )?(?:proposed|presented|introduced|developed|conducted|performed|"
    r"carried out|designed|recruited|enrolled|assigned|randomi[sz]ed|collected|administered|interviewed|"
    r"constructed|built)\b",
    re.IGNORECASE,
)
"""Often of this paper, sometimes of others: enough not to be avoided, not enough to be called announced."""
_MAKES = re.compile(
    r"\b(?:propos(?:e|es|ed|ing)|presents?|presented|introduc(?:e|es|ed|ing)|develop(?:s|ed|ing)?|"
    r"design(?:s|ed|ing)?|describ(?:e|es|ed)|buil[dt]|builds|building|construct(?:s|ed|ing)?|creat(?:e|es|"
    r"ed|ing)|releas(?:e|es|ed|ing)|implement(?:s|ed|ing)?|formulat(?:e|es|ed|ing)|devis(?:e|es|ed)|"
    r"collect(?:s|ed|ing)?|generat(?:e|es|ed|ing)|conduct(?:s|ed|ing)?|perform(?:s|ed|ing)?|carried out|"
    r"carry out|ran|run|appl(?:y|ies|ied|ying)|us(?:e|es|ed|ing)|utili[sz](?:e|es|ed|ing)|employ(?:s|ed|"
    r"ing)?|adopt(?:s|ed|ing)?|extend(?:s|ed|ing)?|combin(?:e|es|ed|ing)|train(?:s|ed|ing)?|recruit(?:s|"
    r"ed)?|enrol(?:s|led|ment)?|interview(?:s|ed)?|survey(?:s|ed)?|review(?:s|ed|ing)?|compil(?:e|es|ed)|"
    r"annotat(?:e|es|ed)|simulat(?:e|es|ed)|deploy(?:s|ed)?|leverag(?:e|es|ed|ing)|derive[sd]?|asked|"
    r"measured|synthesi[sz]ed|sequenced|tested|compar(?:e|es|ed|ing))\b",
    re.IGNORECASE,
)
_MEANS = re.compile(
    r"\b(?:using|by (?:means|[a-z]+ing)|via|through|based on|with the help of|by applying|"
    r"in the framework of|by employing|under the framework|utilizing|leveraging)\b",
    re.IGNORECASE,
)
_THING = re.compile(
    r"\b(?:method|methods|approach|approaches|algorithms?|frameworks?|models?|architectures?|systems?|tool|"
    r"tools|toolkit|schemes?|protocols?|procedures?|pipelines?|techniques?|data ?sets?|corpus|corpora|"
    r"benchmarks?|surveys?|reviews?|overview|experiments?|stud(?:y|ies)|trials?|simulations?|interviews?|"
    r"questionnaires?|cohort|case|theor(?:y|ies)|formalism|estimators?|tests?|networks?|metrics?|measures?|"
    r"library|package|platform|codes?|proofs?|meta-analysis|strateg(?:y|ies)|paradigm|mechanism|formulation|"
    r"regression|spectroscopy|imaging|sequencing|participants)\b",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"\b(?:this|our|previous|the present|the current) (?:[a-z-]+ )?stud(?:y|ies)\b", re.IGNORECASE
)
"""The paper itself, which is a study whatever it does: not a thing that it made."""
_CLAIMS = re.compile(
    r"\b(?:show|shows|showed|shown|find|found|demonstrat(?:e|es|ed)|argue[sd]?|suggest(?:s|ed)?|"
    r"conclude[sd]?|prove[sd]?|observe[sd]?|reveal(?:s|ed)?|indicat(?:e|es|ed)|confirm(?:s|ed)?)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:study|studies|studied|investigat(?:e|es|ed)|examin(?:e|es|ed)|explor(?:e|es|ed)|address(?:es|ed)?|"
    r"consider(?:s|ed)?|discuss(?:es|ed)?|analy[sz](?:e|es|ed)|aim(?:s|ed)?|purpose|objective|goal|"
    r"assess(?:ed)?|evaluat(?:e|es|ed)|determine|whether|understand|clarify|tackle|focus(?:es)?)\b",
    re.IGNORECASE,
)
WEIGHTS = ((_MAKES, 1.6), (_MEANS, 0.8), (_THING, 0.9), (_CLAIMS, -1.2), (_ASKS, -0.5))
"""What each kind of words adds to the log-odds that a sentence names a method."""
OF_THE_LABEL, ALONE = 0.7, 0.9
"""The same of the logarithm of its probability of method, and with nothing else. All from a logistic
regression on one half of `evaluation/announced.jsonl`; the other half confirmed it (`python -m evaluation
announced`)."""
LEAST = 1e-4
"""Probabilities below count as this."""


def announces(text: str) -> bool:
    """Whether a paper speaks here of what it does itself."""
    return _OWN.search(text) is not None


def may_announce(text: str) -> bool:
    """The same with room for doubt: also what was done by somebody who is not named."""
    return announces(text) or _DONE.search(text) is not None


def names_method(text: str, method: float) -> bool:
    """Whether an announcement says how, more likely than not; `method` is its probability of that label."""
    without = _SUBJECT.sub("", text)
    words = sum(weight for words, weight in WEIGHTS if words.search(without))
    return words + OF_THE_LABEL * math.log(max(method, LEAST)) + ALONE > 0
