"""Reading pages with an outside model: optional, capped, and believed only where the page agrees."""

from messor.extract.ai.ledger import Subject
from messor.extract.ai.model import Model, Question
from messor.extract.ai.options import AiSettings, Cap, ModelSettings, model_settings
from messor.extract.ai.proving import Unverified
from messor.extract.ai.reader import AiReader, AiReading
from messor.extract.ai.reply import Ending, Reply

__all__ = [
    "AiReader",
    "AiReading",
    "AiSettings",
    "Cap",
    "Ending",
    "Model",
    "ModelSettings",
    "Question",
    "Reply",
    "Subject",
    "Unverified",
    "model_settings",
]
