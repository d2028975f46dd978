"""Relevance of a page to a vertical's topic: by rules, reviewers' decisions or a model."""

from messor.insight.relevance.classifier import Classifier, LabelledPage, Trained, train
from messor.insight.relevance.flag import RelevanceFlag
from messor.insight.relevance.flags import Flagger, PageText
from messor.insight.relevance.lexical import lexical_score
from messor.insight.relevance.topic import Topic

__all__ = [
    "Classifier",
    "Flagger",
    "LabelledPage",
    "PageText",
    "RelevanceFlag",
    "Topic",
    "Trained",
    "lexical_score",
    "train",
]
