# Many readers of one large state at once: all of them get the whole state, and together they need the memory of one.

import gzip
import json
import random
import socket
import zlib

import pytest
from harness import Connection, message

READERS = 100
#: A text that compresses to about half.
TEXT = random.Random(22).randbytes(450_000).hex()


@pytest.fixture
def large(serve, data):
    session = serve(data).session("large")
    session.dispatch({"setLimits": {"warnAt": 80, "label": TEXT}})
    return session


def ask(session, resource, coding):
    """A reader that has read the head of the answer, and pauses."""
    connection = Connection(session.server, receive_buffer=4096)
    headers = {"Accept-Encoding": "gzip"} if coding == "gzip" else {}
    connection.send(message("GET", session.path + resource, headers=headers))
    status, answered = connection.stream_head() if resource == "/changes" else connection.head()
    assert status == 200 and answered.get("content-encoding") == (coding or None)
    return connection, answered


def hasten(connection):
    """Lets the reader take further bytes as fast as it can."""
    connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)


def snapshot(connection, coding):
    """The data of a stream's first event, and the number of bytes that it took."""
    text, inflater, count = bytearray(), zlib.decompressobj(31), 0
    while True:
        count += len(connection.buffer)
        text += inflater.decompress(connection.buffer) if coding else connection.buffer
        connection.buffer = b""
        start = text.find(b"\ndata: ", 0, 1_000)
        # The stream begins with lines before its first event. Two line feeds after the event's data end the event.
        if start > 0 and (end := text.find(b"\n\n", max(start, len(TEXT)))) > 0:
            return json.loads(text[start + len(b"\ndata: "):end]), count
        connection._more()


@pytest.mark.parametrize("coding", ["", "gzip"])
def test_guarantee_8_a_crowd_on_a_large_state_gets_all_of_it_and_takes_the_memory_of_one_reader(large, coding):
    state = large.state()
    before = large.server.memory()
    streams = [ask(large, "/changes", coding) for _ in range(READERS)]
    reads = [ask(large, "/state", coding) for _ in range(READERS)]
    # A separate copy for each reader would take 180 MB, or half of it as gzip.
    assert large.server.memory() - before < 24 << 20
    large.dispatch("increment")
    for connection, _ in streams:
        hasten(connection)
        first, count = snapshot(connection, coding)
        assert first["values"][""] == state
        assert count < len(TEXT) * 0.7 or not coding
        connection.close()
    for connection, headers in reads:
        hasten(connection)
        body = connection._exactly(int(headers["content-length"]))
        assert json.loads(gzip.decompress(body) if coding else body) == state
        connection.close()


def test_a_stream_of_a_crowd_begins_with_the_earlier_snapshot_and_one_change(large):
    with large.stream() as first:
        old = first.expect("snapshot")
        answer = large.dispatch("increment")
        first.expect("change")
        with large.stream() as second:
            snapshot = second.expect("snapshot")
    # The server shares a snapshot for one second. If the machine took longer, this snapshot is a new one.
            if snapshot.cursor == old.cursor:
                assert snapshot.data["values"] == old.data["values"]
                change = second.expect("change")
                assert change.cursor == answer["cursor"] and change.changed["/p/count"] == 1
            else:
                assert snapshot.cursor == answer["cursor"]
            assert second.quiet_until(large, "increment").changed["/p/count"] == 2


def test_a_large_event_reaches_a_crowd_beside_answers(large):
    streams = [large.stream("/p/limits/label") for _ in range(READERS)]
    for stream in streams:
        stream.expect("snapshot")
    # The events of all readers together are more than the event loop writes in one turn.
    large.dispatch({"setLimits": {"warnAt": 80, "label": TEXT[:60_000]}})
    assert large.state("/p/limits/warnAt") == 80
    for stream in streams:
        assert stream.expect("change").changed["/p/limits/label"] == TEXT[:60_000]
        stream.close()
