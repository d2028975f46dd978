"""Reading pages with an outside model: optional, capped, and believed only where the page agrees."""

from messor.extract.ai.ledger import Subject
from messor.extract.ai.model import Model, Question
from messor.extract.ai.options import AiSettings, Cap, ModelSettings, model_settings
from messor.extract.ai.proving import Unverified
from messor.extract.ai.reader import AiReader, AiReading
from messor.extract.ai.reply import Ending, Reply
from messor.extract.ai.shown import AskedPage, PageOnHand, Proof, ShownText

__all__ = [
    "AiReader",
    "AiReading",
    "AiSettings",
    "AskedPage",
    "Cap",
    "Ending",
    "Model",
    "ModelSettings",
    "PageOnHand",
    "Proof",
    "Question",
    "Reply",
    "ShownText",
    "Subject",
    "Unverified",
    "model_settings",
]
