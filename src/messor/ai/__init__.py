"""Reading pages with an outside model: optional, capped, and believed only where the page agrees."""

from messor.ai.extract import AiReader, AiReading
from messor.ai.ledger import Subject
from messor.ai.model import Model, Question
from messor.ai.options import AiSettings, Cap, ModelSettings, model_settings
from messor.ai.proof import Unverified
from messor.ai.reply import Reply, ReplyStatus
from messor.ai.shown import AskedPage, PageOnHand, ProvenAnswer, ShownText

__all__ = [
    "AiReader",
    "AiReading",
    "AiSettings",
    "AskedPage",
    "Cap",
    "Model",
    "ModelSettings",
    "PageOnHand",
    "ProvenAnswer",
    "Question",
    "Reply",
    "ReplyStatus",
    "ShownText",
    "Subject",
    "Unverified",
    "model_settings",
]
