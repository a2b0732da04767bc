# A stream lives as long as its credential. Its caller renews the credential, and the permissions are decided again.

import json
import signal
import time
import zlib

import pytest

from harness import Connection, LateBody, Server, message
from tokens import Issuer

S = "/v1/apps/todos/sessions/s"
POLICY = {
    "roles": {
        "owner": [{"actions": ["*"], "app": "*", "sessions": ["*"], "stores": ["*"], "values": ["*"]}],
        "titles": [{"actions": ["read"], "app": "todos", "sessions": ["s"], "paths": ["/p/todos/*/title"]}],
        "filter": [{"actions": ["read"], "app": "todos", "sessions": ["s"], "paths": ["/p/filter"]}],
        "viewer": [{"actions": ["read"], "app": "todos", "sessions": ["s"], "views": ["SummaryView"]}],
        "noter": [{"actions": ["read"], "app": "notes", "stores": ["notes"], "values": ["theme"]}],
        "operator": [{"actions": ["operate"]}],
        "many": [{"actions": ["read"], "app": "todos", "sessions": ["s"], "paths": [f"/p/todos/{letter}{number}/title" for number in range(40)]} for letter in "ab"],
    },
}


@pytest.fixture(scope="module")
def issuer(tmp_path_factory):
    return Issuer(tmp_path_factory.mktemp("issuer"))


@pytest.fixture(scope="module")
def server(tmp_path_factory, issuer):
    policy = tmp_path_factory.mktemp("policy") / "policy.json"
    policy.write_text(json.dumps(POLICY))
    with Server(None, arguments=["--jwt-key-file", issuer.file, "--policy", policy, "--workers", 2]) as server:
        assert server.request("POST", S + "/events", {"add": {"id": "a", "title": "one"}}, issuer.bearer("owner", "owner")).status == 200
        yield server
        assert server.stop() == 0, server.log_text()


class Stream(Connection):
    """A stream of a caller with these roles. `name` is the stream's name."""

    def __init__(self, server, issuer, roles, target=S + "/changes", headers=None, **claims):
        super().__init__(server, seconds=10)
        self.server, self.issuer = server, issuer
        self.send(message("GET", target, headers=issuer.bearer("u", *roles.split(), **claims) | (headers or {})))
        status, self.headers = self.stream_head()
        assert status == 200
        self.name = self.headers["link"].split("/v1/streams/")[1].split(">")[0]

    def event(self):
        """The next event: its name, its id and its data."""
        block = self.until(b"\n\n").decode().strip()
        if not block or block.startswith((":", "retry:")):
            return self.event()
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        return fields["event"], fields.get("id"), json.loads(fields["data"])

    def renew(self, roles, subject="u", body=None, **claims):
        fields = self.issuer.bearer(subject, *roles.split(), **claims)
        return self.server.request("PATCH", f"/v1/streams/{self.name}", {"renew": True} if body is None else body, fields)


def dispatch(server, issuer, event):
    assert server.request("POST", S + "/events", event, issuer.bearer("owner", "owner")).status == 200


def utc(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def test_a_notice_comes_before_the_end_and_a_renewal_moves_the_end(server, issuer):
    now = int(time.time())
    with Stream(server, issuer, "owner", exp=now + 5) as stream:
        assert stream.event()[0] == "snapshot"
        name, identifier, data = stream.event()
        assert (name, identifier, data["expires"]) == ("auth", None, utc(now + 5)) and 500 < data["in"] < 3_000
        answer = stream.renew("owner", exp=now + 9)
        assert answer.json == {"stream": stream.name, "expires": utc(now + 9)} and "rivulet-masked" not in answer.headers
        # The first end passes. The renewed credential has a notice of its own.
        name, _, data = stream.event()
        assert (name, data["expires"]) == ("auth", utc(now + 9)) and time.time() < now + 9
        dispatch(server, issuer, {"edit": "a"})
        assert stream.event()[0] == "change"
        assert stream.event() == ("bye", None, {"reason": "token-expired", "reconnect": True, "after": 0})
        # The tests of the timer wheel measure the lateness. A busy machine adds to it here.
        assert now + 8.8 < time.time() < now + 11 and stream.ended()
    dispatch(server, issuer, {"edit": None})


def test_a_compressed_stream_gets_its_notice(server, issuer):
    with Stream(server, issuer, "owner", headers={"Accept-Encoding": "gzip"}, exp=int(time.time()) + 3) as stream:
        assert stream.ended()
        text = zlib.decompress(stream.buffer, 31)
        assert text.count(b"event: auth\ndata: {\"expires\":") == 1 and b'"token-expired"' in text


def test_the_same_permissions_send_nothing(server, issuer):
    for roles in ("owner", "titles", "titles filter"):
        with Stream(server, issuer, roles) as stream:
            assert stream.event()[0] == "snapshot"
            answer = stream.renew(" ".join(reversed(roles.split())))
            assert answer.status == 200 and ("rivulet-masked" in answer.headers) == (roles != "owner")
            dispatch(server, issuer, {"rename": {"id": "a", "title": roles}})
            assert stream.event()[0] == "change"


def test_other_permissions_send_a_reset_with_the_paths_that_they_grant(server, issuer):
    dispatch(server, issuer, {"rename": {"id": "a", "title": "one"}})
    with Stream(server, issuer, "owner", S + "/changes?path=/p/todos&path=/p/filter") as stream:
        name, _, first = stream.event()
        assert name == "snapshot" and set(first["values"]) == {"/p/todos", "/p/filter"}
        for roles, paths in (("titles", {"/p/todos/a/title"}), ("titles filter", {"/p/todos/a/title", "/p/filter"}), ("owner", {"/p/todos", "/p/filter"})):
            answer = stream.renew(roles)
            assert answer.status == 200 and ("rivulet-masked" in answer.headers) == (roles != "owner")
            name, _, data = stream.event()
            assert (name, data["reason"]) == ("reset", "permissions-changed") and set(data["values"]) == paths, roles
        dispatch(server, issuer, {"rename": {"id": "a", "title": "two"}})
        assert stream.event()[2]["changes"][0]["path"] == "/p/todos/a/title"


def test_a_stream_of_the_whole_state_gets_all_of_it_again(server, issuer):
    with Stream(server, issuer, "titles") as stream:
        assert set(stream.event()[2]["values"]) == {"/p/todos/a/title"}
        assert stream.renew("owner").status == 200
        name, _, data = stream.event()
        assert (name, data["reason"]) == ("reset", "permissions-changed") and set(data["values"]) == {""}
        dispatch(server, issuer, {"edit": "a"})
        assert stream.event()[2]["changes"][0]["path"].startswith("/t")
    dispatch(server, issuer, {"edit": None})


@pytest.mark.parametrize(("target", "roles", "lost"), [(S + "/changes?path=/p/todos", "titles", "filter"), (S + "/changes", "titles", "noter"),
    (S + "/views/SummaryView/changes", "viewer", "titles"), ("/v1/apps/notes/stores/notes/events", "noter", "titles"),
    ("/v1/apps/notes/values/theme/changes", "noter", "titles")])  # fmt: skip
def test_no_permission_ends_the_stream(server, issuer, target, roles, lost):
    with Stream(server, issuer, roles, target) as stream:
        stream.event()
        assert stream.renew(roles).status == 200
        answer = stream.renew(lost)
        assert answer.status == 403 and answer.problem["needs"]["action"] == "read"
        while (event := stream.event())[0] != "bye":
            pass
        assert event[2] == {"reason": "unauthorized", "reconnect": False, "after": 0} and stream.ended()
        assert stream.renew(roles).status == 404


def test_more_paths_than_a_stream_takes_are_no_permission(server, issuer):
    with Stream(server, issuer, "owner", S + "/changes?path=/p/todos") as stream:
        assert stream.event()[0] == "snapshot"
        answer = stream.renew("many")
        assert answer.problem["type"] == "/problems/not-granted" and answer.problem["needs"] == {"action": "read", "app": "todos", "session": "s"}
        assert stream.event() == ("bye", None, {"reason": "unauthorized", "reconnect": False, "after": 0}) and stream.ended()


def test_a_credential_that_was_revoked_before_the_body_came_renews_nothing(server, issuer):
    with Stream(server, issuer, "owner") as stream:
        assert stream.event()[0] == "snapshot"
        with LateBody(server, "PATCH", f"/v1/streams/{stream.name}", {"renew": True}, issuer.bearer("u", "owner", jti="late")) as renewal:
            assert server.request("POST", "/v1/revocations", {"jti": "late"}, issuer.bearer("op", "operator")).status == 201
            assert renewal.finish().status == 401
        # The stream keeps the credential that it has.
        dispatch(server, issuer, {"edit": "a"})
        assert stream.event()[0] == "change"
    dispatch(server, issuer, {"edit": None})


def test_a_renewal_has_the_permissions_that_are_in_force_when_its_body_comes(tmp_path):
    issuer, policy = Issuer(tmp_path), tmp_path / "policy.json"
    policy.write_text(json.dumps({"roles": POLICY["roles"] | {"a": POLICY["roles"]["owner"]}}))
    with Server(None, arguments=["--jwt-key-file", issuer.file, "--policy", policy, "--workers", 2]) as server:
        dispatch(server, issuer, {"add": {"id": "a", "title": "one"}})
        with Stream(server, issuer, "a") as stream:
            assert stream.event()[0] == "snapshot"
            with LateBody(server, "PATCH", f"/v1/streams/{stream.name}", {"renew": True}, issuer.bearer("u", "a")) as renewal:
                policy.write_text(json.dumps({"roles": POLICY["roles"] | {"a": POLICY["roles"]["titles"]}}))
                server.process.send_signal(signal.SIGHUP)
                assert set(stream.event()[2]["values"]) == {"/p/todos/a/title"}
                answer = renewal.finish()
                assert answer.status == 200 and "rivulet-masked" in answer.headers
            dispatch(server, issuer, {"rename": {"id": "a", "title": "two"}})
            assert stream.event()[0] == "change"


def test_only_the_caller_of_a_stream_renews_it(server, issuer):
    with Stream(server, issuer, "owner") as stream:
        target = f"/v1/streams/{stream.name}"
        for subject, roles in (("v", "owner"), ("op", "operator"), ("U", "owner")):
            assert stream.renew(roles, subject).problem["type"] == "/problems/not-granted"
        assert server.request("PATCH", target, {"renew": True}).status == 401
        expired = issuer.bearer("u", "owner", iat=int(time.time()) - 100, exp=int(time.time()) - 50)
        assert server.request("PATCH", target, {"renew": True}, expired).status == 401
        for body in ({"renew": False}, {}, {"renew": True, "paths": []}, {"renew": 1}, {"renew": True, "x": 1}):
            assert stream.renew("owner", body=body).status == 422, body
        assert stream.renew("owner").status == 200
        assert stream.event()[0] == "snapshot"
        dispatch(server, issuer, {"edit": "a"})
        assert stream.event()[0] == "change"
    dispatch(server, issuer, {"edit": None})


def test_a_stream_without_credentials_has_nothing_to_renew():
    with Server(None) as server, Connection(server) as connection:
        connection.send(message("GET", S + "/changes"))
        name = connection.stream_head()[1]["link"].split("/v1/streams/")[1].split(">")[0]
        assert server.request("PATCH", f"/v1/streams/{name}", {"renew": True}).json == {"stream": name, "expires": None}


def test_a_cursor_of_other_permissions_begins_with_a_reset(server, issuer):
    def first(roles, cursor):
        with Stream(server, issuer, roles, headers={"Last-Event-ID": cursor}) as stream:
            dispatch(server, issuer, {"setFilter": "open"})
            dispatch(server, issuer, {"setFilter": "all"})
            dispatch(server, issuer, {"rename": {"id": "a", "title": cursor}})
            name, identifier, data = stream.event()
            return name, data.get("reason"), identifier

    with Stream(server, issuer, "owner") as stream:
        whole = stream.event()[1]
    name, reason, titles = first("titles", whole)
    assert (name, reason) == ("reset", "permissions-changed")
    assert first("titles", titles)[:2] == ("change", None)
    assert first("titles filter", titles)[:2] == ("reset", "permissions-changed")
    # A caller that may read everything again cannot be told from one that has asked for other paths.
    assert first("owner", titles)[:2] == ("reset", "paths-changed")
    assert first("owner", whole)[:2] == ("change", None)


def test_after_a_reload_other_paths_need_the_new_permission(tmp_path):
    issuer, policy = Issuer(tmp_path), tmp_path / "policy.json"
    policy.write_text(json.dumps(POLICY))
    with Server(None, arguments=["--jwt-key-file", issuer.file, "--policy", policy, "--workers", 2]) as server:
        dispatch(server, issuer, {"add": {"id": "a", "title": "one"}})
        stream = Stream(server, issuer, "owner")
        assert stream.event()[0] == "snapshot"
        bearer = issuer.bearer("u", "owner")
        policy.write_text(json.dumps({"roles": POLICY["roles"] | {"owner": POLICY["roles"]["titles"]}}))
        server.process.send_signal(signal.SIGHUP)
        end = time.monotonic() + 10
        while server.request("GET", S + "/state/p/filter", headers=bearer).status != 403:
            assert time.monotonic() < end, server.log_text()
        # The streams are decided again within a second. This request may come before that.
        answer = server.request("PATCH", f"/v1/streams/{stream.name}", {"paths": ["/p/filter"]}, bearer)
        assert answer.status == 403, answer.body
        stream.close()


def test_after_a_reload_open_streams_are_decided_again(tmp_path):
    issuer, policy = Issuer(tmp_path), tmp_path / "policy.json"

    def grant(**roles):
        policy.write_text(json.dumps({"roles": POLICY["roles"] | {role: POLICY["roles"].get(other, []) for role, other in roles.items()}}))

    grant(a="owner", b="titles", c="titles", d="owner")
    with Server(None, arguments=["--jwt-key-file", issuer.file, "--policy", policy, "--workers", 2]) as server:
        dispatch(server, issuer, {"add": {"id": "a", "title": "one"}})
        streams = {role: Stream(server, issuer, role) for role in "abcd"}
        for role, stream in streams.items():
            assert stream.event()[0] == "snapshot"
            # A reload at the moment of its opening would end it with `expired`. This answer comes after that moment.
            assert server.request("GET", f"/v1/streams/{stream.name}", headers=issuer.bearer("u", role)).status == 200
        grant(a="titles", b="titles", c="owner")
        server.process.send_signal(signal.SIGHUP)
        reset = streams["a"].event()
        assert reset[0] == "reset" and reset[2]["reason"] == "permissions-changed" and set(reset[2]["values"]) == {"/p/todos/a/title"}
        reset = streams["c"].event()
        assert reset[0] == "reset" and reset[2]["reason"] == "permissions-changed" and set(reset[2]["values"]) == {""}
        assert streams["d"].event() == ("bye", None, {"reason": "unauthorized", "reconnect": False, "after": 0})
        dispatch(server, issuer, {"rename": {"id": "a", "title": "two"}})
        for role in "abc":
            assert streams[role].event()[0] == "change", role
        # The same rules with another key: the credentials of the streams have to be verified again.
        issuer.file.write_bytes(b"another secret of more than 32 bytes")
        server.process.send_signal(signal.SIGHUP)
        for role in "abc":
            name, _, data = streams[role].event()
            assert name == "bye" and data["reason"] == "expired" and data["reconnect"]
        for stream in streams.values():
            stream.close()
