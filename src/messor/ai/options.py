"""Model settings: endpoint, token prices and caps."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Protocol

from pydantic import SecretStr

from messor.errors import UsageError
from messor.fetch.services.options import ServiceSettings

MAX_ANSWER_BYTES = 2_000_000
_MILLION = Decimal(1_000_000)


class AiSettings(Protocol):
    """The settings of models."""

    ai_url: str | None
    ai_key: SecretStr | None
    ai_model: str | None
    ai_input_price: Decimal
    ai_output_price: Decimal
    ai_job_tokens: int | None
    ai_domain_tokens: int | None
    ai_monthly_tokens: int | None
    ai_job_budget: Decimal | None
    ai_domain_budget: Decimal | None
    ai_monthly_budget: Decimal | None
    ai_output_tokens: int
    ai_chunk_chars: int
    ai_chunks: int
    ai_timeout: float
    ca_file: Path | None


@dataclass(frozen=True, slots=True)
class Cap:
    """A spending limit; None is no limit."""

    tokens: int | None = None
    cost: Decimal | None = None


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """One model. Domain and total caps are per month, a job's cap for its lifetime."""

    service: ServiceSettings
    model: str
    input_price: Decimal = Decimal(0)  # per million tokens
    output_price: Decimal = Decimal(0)
    job: Cap = field(default_factory=Cap)
    domain: Cap = field(default_factory=Cap)
    month: Cap = field(default_factory=Cap)
    output_tokens: int = 2_000  # maximum tokens per answer
    chunk_chars: int = 12_000  # characters of page text per question
    chunks: int = 4  # maximum questions per page

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise UsageError("Set MESSOR_AI_MODEL to the name of the model.")
        if self.input_price < 0 or self.output_price < 0:
            raise UsageError("Token prices of a model cannot be negative.")
        if min(self.output_tokens, self.chunk_chars, self.chunks) < 1:
            raise UsageError(
                "Output tokens, chunk characters and chunks of a model must be at least 1."
            )

    def cost(self, prompt_tokens: int, completion_tokens: int) -> Decimal:
        spent = prompt_tokens * self.input_price + completion_tokens * self.output_price
        return spent / _MILLION


def model_settings(settings: AiSettings) -> ModelSettings | None:
    """Return the configured model, None if there is none."""
    if settings.ai_url is None:
        return None
    return ModelSettings(
        ServiceSettings(
            settings.ai_url,
            settings.ai_key,
            timeout=settings.ai_timeout,
            grace=0,
            max_answer_bytes=MAX_ANSWER_BYTES,
            ca_file=settings.ca_file,
        ),
        settings.ai_model or "",
        settings.ai_input_price,
        settings.ai_output_price,
        Cap(settings.ai_job_tokens, settings.ai_job_budget),
        Cap(settings.ai_domain_tokens, settings.ai_domain_budget),
        Cap(settings.ai_monthly_tokens, settings.ai_monthly_budget),
        settings.ai_output_tokens,
        settings.ai_chunk_chars,
        settings.ai_chunks,
    )
