"""`messor webhooks` as a person meets it."""

from __future__ import annotations

from uuid import UUID

from tests.cli.conftest import Messor

URL = "https://example.org/hook"
NOBODY = str(UUID(int=7))


def test_the_life_of_a_webhook(messor: Messor) -> None:
    assert "No webhooks yet" in messor("webhooks", "list").err
    made = messor("webhooks", "add", URL, "--type", "domain.approved", "--json")
    assert made.code == 0, made.err
    name, secret = made.json["id"], made.json["secret"]
    assert secret.startswith("whsec_")
    listed = messor("webhooks", "list")
    assert URL in listed.out
    assert secret not in listed.out
    assert messor("webhooks", "pause", name, "--json").json["is_active"] is False
    refused = messor("webhooks", "try", name)
    assert refused.code == 5
    assert "activate it" in refused.err
    assert messor("webhooks", "resume", name, "--json").json["is_active"] is True
    changed = messor("webhooks", "types", name, "--all-types", "--json")
    assert changed.json["types"] == []
    assert "No deliveries yet" in messor("webhooks", "deliveries", name).err
    assert messor("webhooks", "try", name).code == 0
    waiting = messor("webhooks", "deliveries", name, "--json").json
    assert [(one["event_type"], one["state"]) for one in waiting] == [("webhook.ping", "queued")]
    assert "webhook.ping" in messor("webhooks", "deliveries", name).out
    again = messor("webhooks", "redeliver", name, waiting[0]["id"])
    assert waiting[0]["id"] in again.err
    assert messor("webhooks", "redeliver", name, NOBODY).code == 4
    assert messor("webhooks", "remove", name).code == 0
    assert messor("webhooks", "deliveries", name).code == 4


def test_what_cannot_be_done_is_one_sentence(messor: Messor) -> None:
    for words, code in (
        (("add", "http://127.0.0.1/hook"), 2),
        (("add", "https://169.254.169.254/"), 2),
        (("add", URL, "--type", "No Such Type"), 2),
        (("pause", NOBODY), 4),
        (("types", NOBODY), 2),
    ):
        said = messor("webhooks", *words)
        assert said.code == code, said
        assert said.err.startswith("messor: ")
        assert "Traceback" not in said.err


def test_the_secret_is_the_only_data(messor: Messor) -> None:
    said = messor("webhooks", "add", URL)
    assert said.out.startswith("whsec_")
    assert len(said.out.splitlines()) == 1
