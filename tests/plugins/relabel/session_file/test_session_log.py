"""The file of a session: what it holds, what is torn, who may open it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from diffclass.exceptions import DataError, ParameterError
from diffclass_relabel.session_file import session_log
from diffclass_relabel.session_file import sidecar as kept_address
from diffclass_relabel.session_file.session_log import SessionLog, read_session

STEPS = [{"op": {"op": "undo"}}, {"op": {"op": "tau", "tau": 5}}]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.jsonl"


@pytest.fixture
def written(path):
    """A closed file of a header and five steps, two of them its first."""
    log = SessionLog(path)
    log.begin({"scene": "x"}, STEPS)
    for i in range(3):
        log.append({"op": {"op": "tau", "tau": i + 1}})
    log.close()
    return path


def torn_beside(path):
    return path.with_name(path.name + ".torn")


def assert_refused(path, match):
    """Whoever reads the file is told, and nothing is changed or put aside."""
    content = path.read_bytes()
    for read in (SessionLog, read_session):
        with pytest.raises(DataError, match=match):
            read(path)
    assert path.read_bytes() == content
    assert not torn_beside(path).exists()


def lines_of(path):
    """Return the lines without their hashes."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert all(list(line)[-1] == "hash" for line in lines)
    return [{k: v for k, v in line.items() if k != "hash"} for line in lines]


def test_lines(written):
    header, *entries = lines_of(written)
    assert header == {"kind": session_log.KIND, "scene": "x", "first_steps": 2}
    assert [entry["n"] for entry in entries] == [1, 2, 3, 4, 5]
    assert read_session(written) == (header, entries)


def test_reopened_goes_on(written):
    log = SessionLog(written)
    assert log.is_begun
    assert log.torn is None
    log.append({"op": {"op": "redo"}})
    log.close()
    assert lines_of(written)[-1] == {"n": 6, "op": {"op": "redo"}}
    assert lines_of(written)[1:] == log.entries


def test_every_length_of_a_torn_file(written, tmp_path):
    whole = written.read_bytes()
    ends = [i for i, byte in enumerate(whole, start=1) if byte == 10]
    for length in range(1, len(whole)):
        place = tmp_path / f"{length}.jsonl"
        place.write_bytes(whole[:length])
        torn = tmp_path / f"{length}.jsonl.torn"
        if length < ends[2]:  # header and first steps appeared as a whole: this is no torn end
            with pytest.raises(DataError, match="restore the file"):
                SessionLog(place)
            assert place.read_bytes() == whole[:length]
            assert not torn.exists()
            continue
        log = SessionLog(place)
        kept = max(end for end in ends if end <= length)
        assert place.read_bytes() == whole[:kept]
        assert log.is_begun
        if kept < length:
            assert log.torn == torn
            assert torn.read_bytes() == whole[kept:length].removesuffix(b"\n") + b"\n"
        else:
            assert log.torn is None
        log.close()


@pytest.mark.parametrize("rest", [b"\0" * 100, b'{"n":6,', b'{"n":6}\r\xff\xfe', b"\xff"])
def test_rubbish_at_the_end_is_put_aside(written, rest):
    whole = written.read_bytes()
    written.write_bytes(whole + rest)
    log = SessionLog(written)
    log.append({"op": {}})
    log.close()
    assert written.read_bytes().startswith(whole)
    assert lines_of(written)[6:] == [{"n": 6, "op": {}}]
    assert log.torn.read_bytes() == rest + b"\n"


@pytest.mark.parametrize(
    "end",
    [b"\0\0{}\n", b"\xff\n", b"[]\n", b"\n", b'{"n":6\n', b"[" * 10**5 + b"\n",
     b'{"n":' * 10**5 + b"\n", b"[" * 10**5 + b"]" * 10**5 + b"\n"],
    ids=lambda end: str(end[:9]),
)  # fmt: skip
@pytest.mark.parametrize("is_last", [True, False])
def test_a_last_line_that_is_damaged_though_it_ends_is_named(written, end, is_last):
    """Whether it was answered cannot be known: nothing is put aside."""
    written.write_bytes(written.read_bytes() + end + (b"" if is_last else b'{"n":7,'))
    assert_refused(written, "line 7 is damaged; restore the file, or copy")


@pytest.mark.parametrize("n_lost", [1, 2, 3])
@pytest.mark.parametrize("rest", [b"", b'{"n":', None])
def test_an_end_that_is_missing_is_noticed(written, tmp_path, n_lost, rest):
    """Whole lines, with or without a piece of the next; None: all of the last but its newline."""
    lines = written.read_bytes().splitlines(keepends=True)
    first = lines[-n_lost]
    content = b"".join(lines[:-n_lost]) + (first[:-1] if rest is None else rest)
    written.write_bytes(content)
    assert_refused(written, rf"step 5 .* ends with step {5 - n_lost}; restore")
    other = tmp_path / "other.jsonl"  # the way on that is named
    other.write_bytes(content)
    log = SessionLog(other)
    assert len(log.entries) == 5 - n_lost
    log.append(STEPS[0])
    log.close()
    assert len(read_session(other)[1]) == 6 - n_lost


def test_an_emptied_file_is_noticed_and_a_removed_one_is_gone(written):
    content = written.read_bytes()
    written.write_bytes(b"")
    for _ in range(2):
        with pytest.raises(DataError, match=r"step 5 .* ends with step 0"):
            SessionLog(written)
    assert written.read_bytes() == b""
    written.unlink()
    for _ in range(2):  # also after a process that was killed before it began
        log = SessionLog(written)
        assert not log.is_begun
        log._stream.close()
    log = SessionLog(written)
    log.begin({"scene": "y"})
    log.append(STEPS[0])
    log.close()
    written.write_bytes(content)  # the other one is back: a session with another head
    SessionLog(written).close()


def test_other_steps_in_place_of_those_that_were_there_are_noticed(written, tmp_path):
    """A copy of before that was gone on with elsewhere."""
    lines, other = written.read_bytes().splitlines(keepends=True), tmp_path / "other.jsonl"
    other.write_bytes(b"".join(lines[:-1]))
    log = SessionLog(other)
    log.append(STEPS[0], STEPS[1])
    log.close()
    written.write_bytes(other.read_bytes())
    with pytest.raises(DataError, match=r"step 5 .* not there any more"):
        SessionLog(written)


@pytest.mark.parametrize("moment", ["before", "while", "after"])
def test_a_kill_around_the_note_of_the_last_step_raises_no_alarm(written, monkeypatch, moment):
    """Between the line and the note, in the middle of the note, and before the answer."""

    class Killed(BaseException):
        pass

    def killed(*arguments):
        if moment == "after":
            replace(*arguments)
        raise Killed

    log, replace = SessionLog(written), os.replace
    place = kept_address.os if moment != "before" else session_log
    name = "replace" if moment != "before" else "keep_head"
    with monkeypatch.context() as patch:
        patch.setattr(place, name, killed)
        with pytest.raises(Killed):
            log.append(STEPS[0])
    log._stream.close()
    again = SessionLog(written)
    assert (again.n_operations, again.torn) == (6, None)
    again.append(STEPS[1])
    again.close()
    assert len(read_session(written)[1]) == 7
    names = {written.name, kept_address.address_file(written).name}
    assert {path.name for path in written.parent.iterdir()} == names


def test_the_last_step_and_the_address_are_kept_side_by_side(written):
    address = kept_address.Address(4711)
    kept_address.keep_address(written, address)
    log = SessionLog(written)
    log.append(STEPS[0])
    log.close()
    assert kept_address.kept_address(written) == address
    assert kept_address.kept_head(written).step == 6


@pytest.mark.parametrize("content", ["", "[]", '{"head": 3}', '{"head": {"step": 9}}', "{"])
def test_a_damaged_note_is_as_none(written, content):
    kept_address.address_file(written).write_text(content)
    SessionLog(written).close()
    assert len(read_session(written)[1]) == 5


def test_torn_pieces_add_up(written):
    for piece in (b'{"n":6', b'{"n":6,'):
        with written.open("ab") as stream:
            stream.write(piece)
        log = SessionLog(written)
        log.close()
    assert log.torn.read_bytes() == b'{"n":6\n{"n":6,\n'


@pytest.mark.parametrize("line", [b"{broken\n", b"\n", b"[1]\n", b'{"n":9}\n', b'{"n":2}\n'])
def test_damage_before_the_end_is_refused_and_left_alone(written, line):
    lines = written.read_bytes().splitlines(keepends=True)
    written.write_bytes(b"".join([*lines[:3], line, *lines[3:]]))
    assert_refused(written, "line")


@pytest.mark.parametrize(
    ("line", "old", "new"),
    [
        (1, b'"first_steps":2', b'"first_steps":9'),
        (1, b'"scene":"x"', b'"scene":"y"'),
        (4, b'"tau":1', b'"tau":7'),
        (6, b'"tau":3', b'"tau":7'),  # the last one
        (5, b'"hash":"', b'"hash":"0'),
    ],
)
def test_a_changed_line_is_named(written, line, old, new):
    lines = written.read_bytes().splitlines(keepends=True)
    lines[line - 1] = lines[line - 1].replace(old, new)
    assert b"".join(lines) != written.read_bytes()
    written.write_bytes(b"".join(lines))
    assert_refused(written, f"line {line} was changed")


def test_a_line_that_was_taken_out_is_missed(written):
    lines = written.read_bytes().splitlines(keepends=True)
    written.write_bytes(b"".join([*lines[:3], *lines[4:]]))
    assert_refused(written, "line 4 .* one before it was taken out")


def test_a_session_begins_as_a_whole_or_not_at_all(path, monkeypatch):
    def full(old, new):
        raise OSError(28, "No space left on device")

    log = SessionLog(path)
    monkeypatch.setattr(session_log.os, "replace", full)
    with pytest.raises(DataError, match=r"cannot be begun \(No space left on device\); make room"):
        log.begin({"scene": "x"}, STEPS)
    log.close()
    assert os.listdir(path.parent) == []


@pytest.mark.parametrize("content", [b"ENVI\nlines = 3\n", b"\0\1\2", b'{"kind":"other"}\n', b"\n"])
def test_another_file_is_left_alone(path, content):
    path.write_bytes(content)
    with pytest.raises(DataError, match="no session file"):
        SessionLog(path)
    assert path.read_bytes() == content
    assert os.listdir(path.parent) == [path.name]


def test_nothing_begun_leaves_nothing(path):
    SessionLog(path).close()
    assert not path.exists()


def test_while_it_begins_nobody_else_can_have_it(path, monkeypatch):
    log, replace = SessionLog(path), os.replace

    def watched(source, target):
        for _ in range(2):
            with pytest.raises(DataError, match="another process"):
                SessionLog(path)
            if os.path.exists(source):
                replace(source, target)

    monkeypatch.setattr(session_log.os, "replace", watched)
    log.begin({"scene": "x"})
    with pytest.raises(DataError, match="another process"):
        SessionLog(path)
    log.append(STEPS[0])
    log.close()
    assert len(read_session(path)[1]) == 1


@pytest.mark.parametrize("is_begun", [True, False])
def test_a_file_that_was_replaced_or_removed_meanwhile_is_not_taken(path, monkeypatch, is_begun):
    """Opened just before, and locked just after: what was written there would be nowhere."""
    log, locked = SessionLog(path), session_log._locked

    def late(stream):
        monkeypatch.setattr(session_log, "_locked", locked)
        if is_begun:
            log.begin({"scene": "x"})
        log.close()
        return locked(stream)

    monkeypatch.setattr(session_log, "_locked", late)
    with pytest.raises(DataError, match="another process"):
        SessionLog(path)
    assert path.exists() == is_begun
    again = SessionLog(path)
    assert again.is_begun == is_begun
    again.close()


class Stubborn:
    """A file that cannot be written or cut, once."""

    def __init__(self, stream):
        self._stream = stream
        self._troubles = ["write", "truncate"]

    def __getattr__(self, name):
        if name not in self._troubles:
            return getattr(self._stream, name)
        self._troubles.remove(name)

        def fails(value):
            if name == "write":
                self._stream.write(value[:9])
            raise OSError(5, "Input/output error")

        return fails


def test_half_a_line_that_cannot_be_cut_off_is_later(written):
    log = SessionLog(written)
    log._stream = Stubborn(log._stream)
    with pytest.raises(OSError, match="output error"):
        log.append(STEPS[0])
    log.append(STEPS[1])
    log.close()
    assert [entry["op"] for entry in read_session(written)[1]][-1] == STEPS[1]["op"]
    assert len(read_session(written)[1]) == 6


def test_begun_twice(written):
    log = SessionLog(written)
    with pytest.raises(ParameterError, match="holds a session"):
        log.begin({})
    log.close()


def test_places_where_no_file_can_be(tmp_path):
    with pytest.raises(ParameterError, match="no folder"):
        SessionLog(tmp_path / "a" / "b.jsonl")
    with pytest.raises(ParameterError, match="is a folder"):
        SessionLog(tmp_path)
    with pytest.raises(DataError, match="no such session"):
        read_session(tmp_path / "a.jsonl")


def test_a_folder_that_cannot_be_written(path, monkeypatch):
    def refuse(*arguments):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(session_log.os, "open", refuse)
    with pytest.raises(ParameterError, match="Permission denied"):
        SessionLog(path)


def test_one_process_at_a_time(written):
    log = SessionLog(written)
    code = f"from diffclass_relabel import SessionLog; SessionLog({str(written)!r})"
    command = [sys.executable, "-c", code]
    refused = subprocess.run(command, capture_output=True, text=True)
    assert refused.returncode == 1
    assert "open in another process" in refused.stderr
    assert len(read_session(written)[1]) == 5  # reading is free
    log.close()
    subprocess.run(command, check=True)


def test_a_full_disk_leaves_whole_lines(written, full_disk):
    log = SessionLog(written)
    before = written.read_bytes()
    with full_disk(), pytest.raises(OSError, match="No space"):
        log.append({"op": {"op": "undo"}})
    assert written.read_bytes() == before
    log.append({"op": {"op": "redo"}})
    log.close()
    assert lines_of(written)[-1] == {"n": 6, "op": {"op": "redo"}}


def test_on_disk_before_append_returns(written, monkeypatch):
    log = SessionLog(written)
    synced = []
    sync = os.fsync
    monkeypatch.setattr(
        session_log.os, "fsync", lambda d: (synced.append(os.fstat(d).st_size), sync(d))
    )
    log.append({"op": {"op": "undo"}})
    log.close()
    assert synced == [written.stat().st_size]
