"""Extraction with an external model: optional, capped, and accepted only where the page agrees."""

from messor.ai.extract import AiReader, AiReading
from messor.ai.ledger import Subject
from messor.ai.model import Model, Question
from messor.ai.model_page import LocalModelPage, ModelInput, ModelPage, ProvenAnswer
from messor.ai.options import AiSettings, Cap, ModelSettings, model_settings
from messor.ai.proof import Unverified
from messor.ai.reply import Reply, ReplyStatus

__all__ = [
    "AiReader",
    "AiReading",
    "AiSettings",
    "Cap",
    "LocalModelPage",
    "Model",
    "ModelInput",
    "ModelPage",
    "ModelSettings",
    "ProvenAnswer",
    "Question",
    "Reply",
    "ReplyStatus",
    "Subject",
    "Unverified",
    "model_settings",
]

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = ("queries",)
