"""The vertical of a domain as a field of submission, approval and import, on the command line."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Messor


def test_commands_take_a_vertical(messor: Messor) -> None:
    refused = messor("domains", "submit", "a.org", "--vertical", "funding")
    assert refused.code == 2
    assert "none is applied. Apply one: messor verticals apply NAME" in refused.err
    for name in ("community_resources", "funding"):
        messor("verticals", "apply", name)
    made = messor("domains", "submit", "a.org", "--vertical", "funding", "--json").json
    assert made["vertical"] == "funding"
    assert "for funding" in messor("domains", "review", "a.org").out
    done = messor("domains", "approve", "a.org", "--vertical", "community_resources")
    assert "judged for community_resources" in done.err
    assert messor("domains", "vertical", "a.org", "funding").out == "a.org: funding\n"
    assert "not flagged" in messor("domains", "vertical", "a.org", "--none").out
    assert messor("domains", "vertical", "a.org", "funding", "--none").code == 2


def test_an_import_names_verticals_by_column_or_for_all(messor: Messor, tmp_path: Path) -> None:
    for name in ("community_resources", "funding"):
        messor("verticals", "apply", name)
    sheet = tmp_path / "domains.csv"
    sheet.write_text(
        "\ufeffDomain,Vertical,Depth,Context\n"
        'a.org,funding,2,"Grants, small"\n'
        "b.org,,,\n"
        "c.org,cooking,,\n"
    )
    given = ("domains", "import", str(sheet), "--vertical", "community_resources", "--json")
    said = messor(*given)
    assert said.code == 3
    assert [line["outcome"] for line in said.json] == ["approved", "approved", "refused"]
    assert "'cooking' is not an applied vertical" in said.json[2]["message"]
    rows = {row["domain"]: row for row in messor("domains", "list", "--json").json}
    first = rows["a.org"]
    assert (first["vertical"], first["max_crawl_depth"]) == ("funding", 2)
    assert first["submission_context"] == "Grants, small"
    assert rows["b.org"]["vertical"] == "community_resources"
    sheet.write_text("a.org, 2, no header: commas, as ever\n")
    again = messor("domains", "import", str(sheet), "--vertical", "community_resources", "--json")
    (line,) = again.json
    assert (line["outcome"], "Its vertical is now" in line["message"]) == ("already_approved", True)
    sheet.write_text("domain,colour\na.org,red\n")
    assert "Unknown column 'colour'" in messor("domains", "import", str(sheet)).err
