"""A remembered result is believed only for the inputs that it was computed from, in the folder where it was written."""

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


def test_found_values_are_remembered(folder):
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


def test_folder_that_cannot_be_made_is_ignored(kept, monkeypatch):
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


def test_folder_in_place_of_the_file_is_ignored(folder):
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
    assert not USER.knows("one") and USER.recall("one", "d") is None and not memory.exists()
    USER.remember("one", "d", FOUND)
    monkeypatch.chdir(tmp_path)
    assert USER.recall("one", "d") == FOUND and [path.name for path in memory.rglob("*.json")] == ["one.json"]
    monkeypatch.setenv("LEMMASCOPE_CACHE", str(tmp_path / "another"))
    assert USER.recall("one", "d") is None


@pytest.mark.parametrize(
    ("platform", "variable", "named", "expected"),
    [
        ("linux", "XDG_CACHE_HOME", "caches", "caches"),
        ("linux", "XDG_CACHE_HOME", "", "home/.cache"),
        ("darwin", "XDG_CACHE_HOME", "", "home/Library/Caches"),
        ("win32", "LOCALAPPDATA", "local", "local"),
    ],
)
def test_without_a_name_it_is_in_the_folder_of_caches(tmp_path, monkeypatch, platform, variable, named, expected):
    monkeypatch.delenv("LEMMASCOPE_CACHE")
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setenv(variable, str(tmp_path / named) if named else "not/absolute")
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    USER.remember("one", "d", FOUND)
    assert (file := tmp_path / expected / "lemmascope" / "remembered" / "one.json").is_file()
    assert file.parent.stat().st_mode & 0o077 == 0 and USER.recall("one", "d") == FOUND


def test_an_empty_name_is_no_memory(tmp_path, monkeypatch):
    monkeypatch.setenv("LEMMASCOPE_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    USER.remember("one", "d", FOUND)
    assert USER.recall("one", "d") is None and not USER.knows("one") and list(tmp_path.iterdir()) == []


def test_a_name_that_is_no_absolute_path_is_refused(cli, monkeypatch):
    monkeypatch.setenv("LEMMASCOPE_CACHE", "there")
    code, out, err = cli("list", "--json")
    line = "verify: LEMMASCOPE_CACHE = there: must be an absolute path, or empty to keep no cache"
    assert (code, out, err.strip()) == (2, "", line)


def test_without_a_home_nothing_is_remembered(monkeypatch):
    def home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("LEMMASCOPE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setattr(Path, "home", home)
    USER.remember("one", "d", FOUND)
    assert USER.recall("one", "d") is None and not USER.knows("one")


def test_a_file_in_the_place_of_the_folder_is_no_memory(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("mine")
    monkeypatch.setenv("LEMMASCOPE_CACHE", str(tmp_path / "file"))
    USER.remember("one", "d", FOUND)
    assert USER.recall("one", "d") is None and (tmp_path / "file").read_text() == "mine"


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="who may write in a folder is not told by its mode here")
def test_a_folder_in_which_others_may_write_is_not_believed(memory, monkeypatch):
    USER.remember("one", "d", FOUND)
    folder = memory / "remembered"
    for mode in (0o777, 0o720):
        folder.chmod(mode)
        assert USER.recall("one", "d") is None and not USER.knows("one")
        USER.remember("two", "d", FOUND)
    folder.chmod(0o700)
    assert USER.recall("one", "d") == FOUND and not USER.knows("two")
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
    assert USER.recall("one", "d") is None


def test_the_files_that_were_used_last_are_kept(memory, monkeypatch):
    memory.mkdir()
    (memory / "mine.json").write_text("mine")
    few = Memory(USER.place, 3)
    for number in range(3):
        few.remember(f"{number}", "d", number)
    folder = memory / "remembered"
    for number in range(3):
        os.utime(folder / f"{number}.json", (number, number))
    (folder / "a_folder.json").mkdir()
    os.utime(folder / "a_folder.json", (0, 0))
    assert few.recall("0", "d") == 0
    few.remember("3", "d", 3)
    # The folder is not ours, so it stays; the least recently used file is removed.
    assert {path.stem for path in folder.iterdir()} == {"a_folder", "0", "2", "3"} and few.recall("3", "d") == 3
    assert (memory / "mine.json").read_text() == "mine"


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
