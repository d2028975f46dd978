"""Relevance: is a page about a vertical's topic? By rules, by what reviewers taught, by a model."""

from messor.extract.relevance.flag import Flag
from messor.extract.relevance.flagging import Flagger, PageText
from messor.extract.relevance.learning import Classifier, Example, Trained, train
from messor.extract.relevance.lexical import lexical_score
from messor.extract.relevance.topic import Topic

__all__ = [
    "Classifier",
    "Example",
    "Flag",
    "Flagger",
    "PageText",
    "Topic",
    "Trained",
    "lexical_score",
    "train",
]
