"""A file is first written completely beside the file that it replaces; a file that is not ours is not overwritten."""

import multiprocessing
import os
from pathlib import Path

import pytest

from verify import InputError
from verify.files import json_object, name_in_file, parts_of, replaceable, whole, write_whole


def test_a_file_is_there_whole_or_not_at_all(tmp_path):
    path = tmp_path / "f"
    with whole(path) as part:
        assert part.parent == tmp_path and part.stat().st_size == 0 and not path.exists()
        part.write_text("1")
    assert path.read_text() == "1" and list(tmp_path.iterdir()) == [path]
    for failure in (ValueError, KeyboardInterrupt):
        with pytest.raises(failure):
            _stopped(path, failure)
    assert path.read_text() == "1" and list(tmp_path.iterdir()) == [path]


def _stopped(path, failure):
    with whole(path) as part:
        part.write_text("2")
        raise failure


def test_concurrent_writes_have_different_names(tmp_path):
    path = tmp_path / ("f" * 240)
    with whole(path) as one, whole(path) as other:
        assert one != other and one.parent == other.parent == tmp_path
        one.write_text("1")
        other.write_text("2")
    assert path.read_text() == "1" and list(tmp_path.iterdir()) == [path]


def _written(path):
    for _ in range(100):
        write_whole(path, "x" * 10_000)


def test_several_processes_write_one_file(tmp_path):
    writers = [multiprocessing.get_context("spawn").Process(target=_written, args=(tmp_path / "f",)) for _ in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert [path.name for path in tmp_path.iterdir()] == ["f"] and (tmp_path / "f").stat().st_size == 10_000


def test_no_link_is_followed(tmp_path, monkeypatch):
    victim, path = tmp_path / "victim", tmp_path / "f"
    victim.write_text("mine")
    monkeypatch.setattr("verify.files.secrets.token_hex", lambda _: "0" * 16)
    # An existing file or link at the temporary path is not opened.
    (tmp_path / "f.0000000000000000.part").symlink_to(victim)
    with pytest.raises(FileExistsError):
        write_whole(path, "text")
    (tmp_path / "f.0000000000000000.part").unlink()
    # If the file itself is a link, the link is replaced, and its target stays unchanged.
    path.symlink_to(victim)
    write_whole(path, "text")
    assert victim.read_text() == "mine" and not path.is_symlink() and path.read_text() == "text"


def test_parts_left_by_a_killed_process_are_found(tmp_path):
    left = tmp_path / "f.0123456789abcdef.part"
    for path in (left, tmp_path / "f.part", tmp_path / "f.2.0123456789abcdef.part", tmp_path / "f"):
        path.touch()
    assert parts_of(tmp_path / "f") == [left] and parts_of(tmp_path / "g") == []


@pytest.mark.parametrize("name", ["wang2024.theorem1", "user.a-b_c", "x", "a" * 100])
def test_a_name_that_a_file_may_have(name):
    assert name_in_file("id", name) == name


@pytest.mark.parametrize(
    "name",
    ["../../escaped", "a/b", "a\\b", "..", ".", "", ".hidden", "a..b", "a.", "a b", "é", "a\n", "a" * 101, "C:a"],
)
def test_a_name_that_no_file_may_have(name):
    with pytest.raises(InputError, match="cannot be part of a file's name"):
        name_in_file("id", name)


def test_own_empty_and_absent_files_are_replaced(tmp_path):
    path = tmp_path / "f"
    ours = lambda content: content == b"ours"  # noqa: E731
    assert replaceable(path, ours)
    path.touch()
    assert replaceable(path, ours)
    path.write_bytes(b"ours")
    assert replaceable(path, ours)


def test_nothing_else_is_replaced(tmp_path):
    path, folder, nowhere = tmp_path / "f", tmp_path / "d", tmp_path / "link"
    path.write_bytes(b"theirs")
    folder.mkdir()
    nowhere.symlink_to(tmp_path / "none")
    assert not any(replaceable(each, lambda content: content == b"ours") for each in (path, folder, nowhere))
    assert not replaceable(Path(os.devnull), lambda _: True)


def test_json_objects_are_read_and_other_content_is_empty():
    assert json_object(b'{"a": 1}') == {"a": 1}
    assert [json_object(c) for c in (b"[1]", b"1", b"{", b"\xff", b"[" * 10**5)] == [{}] * 5
