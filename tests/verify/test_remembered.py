"""A remembered result is believed for the inputs that it was found from, in the folder that it was written in."""

import json
import shutil
import subprocess
import sys

import pytest

from verify import remembered
from verify.files import sources

FOUND = {"a": [1, "x", None], "b": {"c": True}}


@pytest.fixture
def folder(kept):
    remembered.make_folder()
    assert kept.is_dir()
    return kept / "remembered"


def test_what_was_found_is_remembered(folder):
    assert remembered.recall("one", "d") is None and not remembered.knows("one")
    remembered.remember("one", "d", FOUND)
    assert remembered.recall("one", "d") == FOUND and remembered.knows("one")
    assert remembered.recall("one", "e") is None and remembered.recall("two", "d") is None
    remembered.remember("one", "e", [])
    assert remembered.recall("one", "e") == [] and remembered.recall("one", "d") is None
    assert [path.name for path in folder.iterdir()] == ["one.json"]


def test_without_the_folder_nothing_is(kept):
    remembered.remember("one", "d", FOUND)
    assert remembered.recall("one", "d") is None and not kept.exists()


def test_what_cannot_be_made_is_not(kept, monkeypatch):
    monkeypatch.setattr("verify.files.FOLDER", kept / "in" / "nothing")
    remembered.make_folder()
    remembered.remember("one", "d", FOUND)
    assert not kept.exists()


@pytest.mark.parametrize("what", ["found", "of", "seal"])
def test_a_changed_file_is_none(folder, what):
    remembered.remember("one", "d", FOUND)
    path = folder / "one.json"
    body = json.loads(path.read_text())
    path.write_text(json.dumps({**body, what: "d" if what == "found" else "e"}))
    assert remembered.recall("one", "d") is None and remembered.recall("one", "e") is None
    remembered.remember("one", "d", FOUND)
    assert remembered.recall("one", "d") == FOUND


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'{"of": "d"}', b"\xff\xfe", b"[" * 100_000])
def test_a_damaged_file_is_none(folder, content):
    folder.mkdir()
    (folder / "one.json").write_bytes(content)
    assert remembered.recall("one", "d") is None
    remembered.remember("one", "d", FOUND)
    assert remembered.recall("one", "d") == FOUND


def test_what_is_a_folder_is_none(folder):
    (folder / "one.json").mkdir(parents=True)
    remembered.remember("one", "d", FOUND)
    assert remembered.recall("one", "d") is None


def test_a_copied_folder_is_not_believed(folder, kept):
    remembered.remember("one", "d", FOUND)
    shutil.copytree(kept, kept.parent / "copy")
    shutil.move(kept, kept.parent / "original")
    shutil.move(kept.parent / "copy", kept)
    assert remembered.knows("one") and remembered.recall("one", "d") is None
    shutil.copy(kept.parent / "original" / "remembered" / "one.json", folder / "two.json")
    assert remembered.recall("two", "d") is None


def test_parts_are_told_apart():
    found = {remembered.digest_of(*parts) for parts in ([b"ab"], [b"a", b"b"], [b"", b"ab"], [], [b""])}
    assert len(found) == 5 and remembered.digest_of(b"ab") == remembered.digest_of(b"ab")


def test_two_processes_write_one_file_at_once(tmp_path):
    code = (
        "import sys\nfrom pathlib import Path\nfrom verify import files, remembered\n"
        "files.FOLDER = Path(sys.argv[1])\n"
        "for _ in range(200):\n"
        "    remembered.remember('one', 'd', [sys.argv[2]] * 2000)\n"
        "    found = remembered.recall('one', 'd')\n"
        "    assert found is not None and len(set(found)) == 1, found\n"
    )
    runs = [subprocess.Popen([sys.executable, "-c", code, tmp_path, name]) for name in ("left", "right")]
    assert [run.wait(timeout=120) for run in runs] == [0, 0]
    assert [path.name for path in (tmp_path / "remembered").iterdir()] == ["one.json"]


def test_the_sources_of_a_package_inside_another():
    names = [name for name, _ in sources("verify.rechecker")]
    assert "__init__.py" in names and "kinds/algebra.py" in names and names == sorted(names)
    assert [name for name, _ in sources("verify.errors")] == ["errors.py"] and list(sources("nothing_there")) == []
