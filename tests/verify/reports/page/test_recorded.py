"""What runs have entered is kept for the report, of the same sources alone."""

from verify.reports.page import recorded

ONE = {"kind": "comparison", "id": "p.a", "device": "cpu", "full": False, "outcome": "verified"}
OTHER = {"kind": "comparison", "id": "p.b", "device": "cpu", "full": False, "outcome": "refuted"}


def outcomes():
    return {entry["id"]: entry["outcome"] for entry in recorded.recorded()}


def test_the_latest_of_each_thing_is_kept():
    assert recorded.recorded() == []
    recorded.record([ONE, OTHER])
    kept = recorded.record([ONE | {"outcome": "inconclusive"}])
    assert outcomes() == {"p.a": "inconclusive", "p.b": "refuted"} == {e["id"]: e["outcome"] for e in kept}
    assert all(entry["at"].endswith("UTC") for entry in recorded.recorded())


def test_another_device_or_size_is_another_thing():
    more = [ONE, ONE | {"device": "cuda"}, ONE | {"full": True}]
    assert recorded.together([ONE], more) == more and recorded.together(more, [ONE]) == [*more[1:], ONE]


def test_nothing_is_kept_once_a_source_has_changed(monkeypatch):
    recorded.record([ONE])
    monkeypatch.setattr(recorded, "_digest", lambda: "another")
    assert recorded.recorded() == []


def test_a_damaged_file_is_none(kept):
    recorded.record([ONE])
    path = kept / "remembered" / "ledger.json"
    path.write_text(path.read_text().replace("verified", "refuted"))
    assert recorded.recorded() == []
