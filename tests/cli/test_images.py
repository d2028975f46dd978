"""Pictures of products on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Messor
from tests.cli.test_extract import bring
from tests.parsers.test_page_reading import PRODUCT

LAMP = PRODUCT.replace('"@type": "Product",', '"@type": "Product", "image": "/kettle.jpg",', 1)


def test_a_picture_is_shown_and_what_was_not_downloaded_is_said(
    messor: Messor, tmp_path: Path
) -> None:
    assert LAMP != PRODUCT
    bring(messor, tmp_path, LAMP)
    assert messor("extract", "--once", "--processes", "1").code == 0
    (product,) = messor("products", "list", "--json").json
    (picture,) = messor("products", "show", str(product["id"]), "--json").json["images"]
    number = str(picture["id"])
    assert f"primary {number}: " in messor("products", "show", str(product["id"])).out
    assert messor("products", "image", number, "--json").json["width"] is None
    missing = messor("products", "image", number, "--save", str(tmp_path / "a.jpg"))
    assert missing.code == 4
    assert "not downloaded" in missing.err
    assert messor("products", "image", "999").code == 4


def test_pictures_are_asked_for_only_where_it_is_set(
    messor: Messor, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert messor("schedule", "run", "O-Images").code == 4
    monkeypatch.setenv("MESSOR_IMAGE_DOMAINS", '["products"]')
    done = messor("schedule", "run", "O-Images", "--json")
    assert done.json["detail"] == {"pictures_asked_for": 0, "pictures_refused": 0}
