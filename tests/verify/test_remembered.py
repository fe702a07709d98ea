"""A remembered result is believed for the inputs that it was found from, in the folder that it was written in."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from verify import remembered
from verify.files import sources
from verify.remembered import HERE, USER, Memory

FOUND = {"a": [1, "x", None], "b": {"c": True}}


@pytest.fixture
def folder(kept):
    remembered.make_folder()
    assert kept.is_dir()
    return kept / "remembered"


def test_what_was_found_is_remembered(folder):
    assert HERE.recall("one", "d") is None and not HERE.knows("one")
    HERE.remember("one", "d", FOUND)
    assert HERE.recall("one", "d") == FOUND and HERE.knows("one")
    assert HERE.recall("one", "e") is None and HERE.recall("two", "d") is None
    HERE.remember("one", "e", [])
    assert HERE.recall("one", "e") == [] and HERE.recall("one", "d") is None
    assert [path.name for path in folder.iterdir()] == ["one.json"]


def test_without_the_folder_nothing_is(kept):
    HERE.remember("one", "d", FOUND)
    assert HERE.recall("one", "d") is None and not kept.exists()


def test_what_cannot_be_made_is_not(kept, monkeypatch):
    monkeypatch.setattr("verify.files.FOLDER", kept / "in" / "nothing")
    remembered.make_folder()
    HERE.remember("one", "d", FOUND)
    assert not kept.exists()


@pytest.mark.parametrize("what", ["found", "of", "seal"])
def test_a_changed_file_is_none(folder, what):
    HERE.remember("one", "d", FOUND)
    path = folder / "one.json"
    body = json.loads(path.read_text())
    path.write_text(json.dumps({**body, what: "d" if what == "found" else "e"}))
    assert HERE.recall("one", "d") is None and HERE.recall("one", "e") is None
    HERE.remember("one", "d", FOUND)
    assert HERE.recall("one", "d") == FOUND


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'{"of": "d"}', b"\xff\xfe", b"[" * 100_000])
def test_a_damaged_file_is_none(folder, content):
    folder.mkdir()
    (folder / "one.json").write_bytes(content)
    assert HERE.recall("one", "d") is None
    HERE.remember("one", "d", FOUND)
    assert HERE.recall("one", "d") == FOUND


def test_what_is_a_folder_is_none(folder):
    (folder / "one.json").mkdir(parents=True)
    HERE.remember("one", "d", FOUND)
    assert HERE.recall("one", "d") is None


def test_a_copied_folder_is_not_believed(folder, kept):
    HERE.remember("one", "d", FOUND)
    shutil.copytree(kept, kept.parent / "copy")
    shutil.move(kept, kept.parent / "original")
    shutil.move(kept.parent / "copy", kept)
    assert HERE.knows("one") and HERE.recall("one", "d") is None
    shutil.copy(kept.parent / "original" / "remembered" / "one.json", folder / "two.json")
    assert HERE.recall("two", "d") is None


def test_a_user_s_memory_is_that_of_every_folder(memory, tmp_path, monkeypatch):
    USER.remember("one", "d", FOUND)
    monkeypatch.chdir(tmp_path)
    assert USER.recall("one", "d") == FOUND and [path.name for path in memory.iterdir()] == ["one.json"]
    monkeypatch.setenv("LEMMASCOPE_CACHE", str(tmp_path / "another"))
    assert USER.recall("one", "d") is None


def test_without_a_name_it_is_in_the_folder_of_caches(tmp_path, monkeypatch):
    monkeypatch.setenv("LEMMASCOPE_CACHE", "")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    USER.remember("one", "d", FOUND)
    (file,) = (tmp_path / "caches" / "lemmascope").iterdir()
    assert file.name == "one.json" and file.parent.stat().st_mode & 0o077 == 0
    for named, platform, expected in (
        ("", "linux", ".cache"),
        ("not/absolute", "linux", ".cache"),
        ("", "darwin", "Library/Caches"),
    ):
        monkeypatch.setattr("sys.platform", platform)
        monkeypatch.setenv("XDG_CACHE_HOME", named)
        monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
        USER.remember("one", "d", FOUND)
        assert (tmp_path / "home" / expected / "lemmascope" / "one.json").is_file()


def test_without_a_home_nothing_is_remembered(monkeypatch):
    def home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setenv("LEMMASCOPE_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setattr(Path, "home", home)
    USER.remember("one", "d", FOUND)
    assert USER.recall("one", "d") is None and not USER.knows("one")


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="who may write in a folder is not told by its mode here")
def test_a_folder_in_which_others_may_write_is_not_believed(memory, monkeypatch):
    USER.remember("one", "d", FOUND)
    for mode in (0o777, 0o720):
        memory.chmod(mode)
        assert USER.recall("one", "d") is None and not USER.knows("one")
        USER.remember("two", "d", FOUND)
    memory.chmod(0o700)
    assert USER.recall("one", "d") == FOUND and not USER.knows("two")
    monkeypatch.setattr(os, "getuid", lambda: memory.stat().st_uid + 1)
    assert USER.recall("one", "d") is None


def test_the_last_ones_written_are_kept(tmp_path):
    few = Memory(lambda: tmp_path, 3)
    for number in range(5):
        few.remember(f"{number}", "d", number)
        os.utime(tmp_path / f"{number}.json", (number, number))
    assert {path.stem for path in tmp_path.iterdir()} == {"2", "3", "4"} and few.recall("4", "d") == 4


def test_parts_are_told_apart():
    found = {remembered.digest_of(*parts) for parts in ([b"ab"], [b"a", b"b"], [b"", b"ab"], [], [b""])}
    assert len(found) == 5 and remembered.digest_of(b"ab") == remembered.digest_of(b"ab")


def test_two_processes_write_one_file_at_once(tmp_path):
    code = (
        "import sys\nfrom pathlib import Path\nfrom verify import files, remembered\n"
        "files.FOLDER = Path(sys.argv[1])\n"
        "for _ in range(200):\n"
        "    remembered.HERE.remember('one', 'd', [sys.argv[2]] * 2000)\n"
        "    found = remembered.HERE.recall('one', 'd')\n"
        "    assert found is not None and len(set(found)) == 1, found\n"
    )
    runs = [subprocess.Popen([sys.executable, "-c", code, tmp_path, name]) for name in ("left", "right")]
    assert [run.wait(timeout=120) for run in runs] == [0, 0]
    assert [path.name for path in (tmp_path / "remembered").iterdir()] == ["one.json"]


def test_the_sources_of_a_package_inside_another():
    names = [name for name, _ in sources("verify.rechecker")]
    assert "__init__.py" in names and "kinds/algebra.py" in names and names == sorted(names)
    assert [name for name, _ in sources("verify.errors")] == ["errors.py"] and list(sources("nothing_there")) == []
