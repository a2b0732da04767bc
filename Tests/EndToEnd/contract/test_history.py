# The log, earlier states, restore, fork and reset, by <Documentation/HTTP.md#resources>.

import itertools
import json
import random
import re
import threading

import pytest

from harness import PATIENCE, threads


def post(session, action, body=None, **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return session.server.request("POST", f"{session.path}/{action}", body, headers)


def log(session, query="", **headers):
    answer = session.server.get(f"{session.path}/events{query}", **headers)
    assert answer.status == 200, answer
    return answer


def past(session, version, pointer="", **headers):
    return session.server.get(f"{session.path}/state{pointer}?version={version}", **headers)


@pytest.fixture
def counted(session):
    """A session at version 5. Its count equals its version."""
    for count in range(1, 6):
        session.dispatch({"setCount": count})
    return session


# The log


def test_the_log_has_every_version_in_order(counted):
    counted.dispatch("noop")
    counted.dispatch("touch")
    entries = log(counted).json
    assert [entry["version"] for entry in entries] == [1, 2, 3, 4, 5]
    for entry in entries:
        assert list(entry) == ["version", "time", "event", "changes"]
        assert entry["event"] == {"setCount": entry["version"]}
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", entry["time"])
        assert {"op": "replace", "path": "/p/count", "value": entry["version"]} in entry["changes"]
    assert entries[0]["changes"][-1] == {"op": "replace", "path": "/t/lastEvent", "value": "setCount", "transient": True}


def test_the_log_comes_in_pages_that_link_to_the_next(counted):
    target, found = f"{counted.path}/events?limit=2", []
    while target:
        answer = counted.server.get(target)
        assert answer.headers["rivulet-version"] == "5"
        found.append([entry["version"] for entry in answer.json])
        link = re.fullmatch(r'<(.+)>; rel="next"', answer.headers.get("link", ""))
        target = link and link[1]
    assert found == [[1, 2], [3, 4], [5]]
    assert log(counted, "?after=3").json[0]["version"] == 4
    assert log(counted, "?after=5").json == []


def test_the_log_is_sent_as_lines_if_they_are_requested(counted):
    answer = log(counted, Accept="application/x-ndjson")
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert answer.body.endswith(b"\n")
    assert [json.loads(line) for line in answer.body.splitlines()] == log(counted).json
    assert log(counted, Accept="application/json, application/x-ndjson;q=0.5").headers["content-type"] == "application/json"
    assert counted.server.get(f"{counted.path}/events", Accept="text/html").problem["status"] == 406


def test_large_entries_come_in_smaller_pages(session):
    for letter in "abcdef":
        session.dispatch({"rename": letter * 600_000})
    target, versions, answers = f"{session.path}/events", [], 0
    while target:
        answer = session.server.get(target)
        assert len(answer.body) < 2_000_000
        versions += [entry["version"] for entry in answer.json]
        answers += 1
        link = re.fullmatch(r'<(.+)>; rel="next"', answer.headers.get("link", ""))
        target = link and link[1]
    assert (versions, answers) == ([1, 2, 3, 4, 5, 6], 6)


def test_a_sensitive_event_is_in_the_log_by_name_only(session):
    session.dispatch([{"setNote": "the secret"}, "increment"])
    answer = log(session)
    assert answer.json[0]["event"] == ["setNote", "increment"]
    assert b"the secret" not in answer.body


@pytest.mark.parametrize("query", ["?limit=0", "?limit=1001", "?after=-1", "?after=x", "?before=1"])
def test_an_invalid_range_of_the_log_is_refused(counted, query):
    assert counted.server.get(f"{counted.path}/events{query}").problem["status"] == 400


def test_versions_that_do_not_exist_yet_are_404(counted):
    for target in ("events?after=6", "state?version=6", "state/p/count?version=99"):
        assert counted.server.get(f"{counted.path}/{target}").problem["status"] == 404, target
    assert post(counted, "restore?version=6").problem["status"] == 404
    assert post(counted, "fork?version=6").problem["status"] == 404


def test_an_unknown_session_has_no_log_and_only_its_default_as_version_0(shared, session):
    assert shared.get(f"{session.path}/events").problem["status"] == 404
    assert past(session, 0, "/p/count").json == 0
    assert past(session, 1).problem["status"] == 404
    for action in ("restore?version=0", "fork?version=0", "fork"):
        assert post(session, action).problem["status"] == 404, action
    assert shared.get(session.path).status == 404


# Earlier states


def test_the_state_of_every_version_can_be_read(counted):
    counted.dispatch({"setLimits": {"warnAt": 3, "label": "x"}})
    for version in range(6):
        answer = past(counted, version)
        assert answer.json["p"]["count"] == version
        assert answer.json["p"]["limits"]["warnAt"] == 80
        assert answer.json["t"] == {"lastEvent": None, "warning": None}, "transient fields have their defaults"
        assert answer.headers["rivulet-version"] == str(version)
        assert past(counted, version, "/p/count").json == version
    assert past(counted, 6, "/p/limits").json == {"warnAt": 3, "label": "x"}


def test_the_tag_of_the_past_names_its_version_and_answers_304(counted):
    answer = past(counted, 3, "/p/count")
    epoch = counted.info()["epoch"]
    assert re.fullmatch(f'"{epoch}[.]3-[0-9a-z]+-[0-9a-z]+"', answer.headers["etag"])
    assert past(counted, 3, "/p/limits").headers["etag"] != answer.headers["etag"]
    assert answer.headers["cache-control"] == "private, no-cache"
    counted.dispatch("increment")
    again = past(counted, 3, "/p/count", If_None_Match=answer.headers["etag"])
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", answer.headers["etag"])
    assert past(counted, 4, "/p/count", If_None_Match=answer.headers["etag"]).json == 4
    stale = post(counted, "reset", If_Match=answer.headers["etag"])
    assert stale.problem["status"] == 412 and stale.json["detail"].startswith("the session has moved on")
    assert post(counted, "reset", If_Match=past(counted, 6).headers["etag"]).status == 200


@pytest.mark.parametrize("query", ["version=-1", "version=-0", "version=%2B1", "version=x", "version=", "version=1&version=2", "at=1"])
def test_an_impossible_version_is_refused(counted, query):
    assert counted.server.get(f"{counted.path}/state?{query}").problem["status"] == 400
    assert post(counted, f"restore?{query}").problem["status"] == 400


# Going back


def test_restore_is_a_new_version_and_streams_get_the_differences(counted):
    counted.dispatch({"rename": "Renamed"})
    with counted.stream("/p/count") as count, counted.stream("/p/title") as title, counted.stream("/p/step") as step:
        for stream in (count, title, step):
            stream.expect("snapshot")
        answer = post(counted, "restore?version=2")
        assert answer.status == 200
        assert answer.json["version"] == 7 and answer.json["durable"] is True
        changes = {change["path"]: change.get("value") for change in answer.json["changes"]}
        assert changes == {"/p/count": 2, "/p/title": "Counter", "/p/history": [1, 2]}
        assert answer.headers["etag"] == f'"{answer.json["cursor"]}"' and answer.headers["rivulet-version"] == "7"
        assert count.expect("change").changed == {"/p/count": 2}
        assert title.expect("change").changed == {"/p/title": "Counter"}
        assert step.quiet_until(counted, {"setStep": 3}).changed == {"/p/step": 3}
    state = counted.state()
    assert (state["p"]["count"], state["p"]["history"]) == (2, [1, 2])
    assert state["t"]["lastEvent"] == "setStep"
    assert log(counted, "?after=6").json[0]["event"] == {"$restore": {"version": 2}}


def test_restore_keeps_transient_fields(counted):
    counted.dispatch({"setNote": "only in memory"})
    before = counted.state("/t")
    post(counted, "restore?version=1")
    assert counted.state("/t") == before == {"lastEvent": "setNote", "warning": None}


def test_a_restore_of_equal_fields_changes_nothing(counted):
    answer = post(counted, "restore?version=5")
    assert (answer.status, answer.json["version"], answer.json["changes"]) == (200, 5, [])
    assert len(log(counted).json) == 5


def test_a_restore_can_be_restored(counted):
    post(counted, "restore?version=1")
    assert post(counted, "restore?version=5").json["version"] == 7
    assert past(counted, 6, "/p/count").json == 1
    assert past(counted, 7, "/p/count").json == 5 == counted.state("/p/count")


def test_reset_sets_both_halves_to_their_defaults_without_the_reducers(counted):
    counted.dispatch({"setCount": 90})
    with counted.stream() as stream:
        stream.expect("snapshot")
        answer = post(counted, "reset")
        assert answer.json["version"] == 7
        changed = stream.expect("change").changed
        assert changed["/p/count"] == 0 and changed["/t/lastEvent"] is None and changed["/t/warning"] is None
    fresh = counted.server.session("never-touched").state()
    assert counted.state() == fresh
    assert log(counted, "?after=6").json[0]["event"] == "$reset"
    assert post(counted, "reset").json["changes"] == []


@pytest.mark.parametrize("action", ["restore?version=2", "reset"])
def test_restore_and_reset_honour_conditions_and_preferences(counted, action):
    epoch = counted.info()["epoch"]
    refused = post(counted, action, If_Match=f'"{epoch}.4"')
    assert refused.problem["status"] == 412 and counted.state("/p/count") == 5
    answer = post(counted, action, If_Match=f'"{epoch}.5"', Prefer="return=minimal")
    assert (answer.status, answer.body, answer.headers["rivulet-version"]) == (204, b"", "6")
    assert answer.headers["preference-applied"] == "return=minimal"
    assert post(counted, action, {"version": 1}).problem["status"] == 400
    assert counted.server.get(f"{counted.path}/{action}").headers["allow"] == "POST, OPTIONS"


@pytest.mark.parametrize("action", ["restore?version=2", "reset"])
def test_a_retried_restore_or_reset_with_a_key_is_done_once(counted, action):
    first = post(counted, action, Idempotency_Key='"back"')
    assert first.json["version"] == 6
    counted.dispatch({"setCount": 50})
    again = post(counted, action, Idempotency_Key='"back"')
    assert (again.status, again.body) == (200, first.body)
    assert again.headers["idempotency-replayed"] == "true"
    assert counted.state("/p/count") == 50
    assert post(counted, "restore?version=3", Idempotency_Key='"back"').problem["status"] == 422
    assert post(counted, "fork", Idempotency_Key='"fork"').problem["status"] == 400


def test_fork_begins_another_session_with_a_version_of_this_one(counted):
    answer = post(counted, "fork?version=3")
    assert answer.status == 201
    fork = counted.server.session(answer.json["id"])
    assert answer.headers["location"] == fork.path
    info = fork.info()
    assert info["version"] == 0 and info["epoch"] != counted.info()["epoch"]
    assert fork.state("/p") == past(counted, 3, "/p").json
    assert past(fork, 0, "/p/count").json == 3
    assert fork.dispatch("increment")["version"] == 1
    assert (fork.state("/p/count"), counted.state("/p/count")) == (4, 5)
    assert log(fork).json[0]["event"] == "increment"


def test_fork_requires_a_free_id(counted):
    name = counted.identifier + "-fork"
    assert post(counted, "fork", {"id": name}).json["id"] == name
    assert counted.server.session(name).state("/p/count") == 5
    assert post(counted, "fork", {"id": name}).problem["status"] == 409
    assert post(counted, "fork", {"id": counted.identifier}).problem["status"] == 409
    assert post(counted, "fork", {"id": "a b"}).problem["status"] == 400
    assert post(counted, "fork", {"state": {}}).problem["status"] == 400


# Restarts


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_the_log_and_all_versions_exist_after_a_restart(serve, data, end):
    server = serve(data)
    session = server.session("s")
    for count in range(1, 5):
        session.dispatch({"setCount": count})
    post(session, "restore?version=2")
    fork = post(session, "fork?version=4").json["id"]
    with session.stream("/p/count") as stream:
        cursor = stream.expect("snapshot").cursor
    post(session, "reset")
    entries, state = log(session).body, session.state("/p")
    getattr(server, end)()

    again = serve(data).session("s")
    assert (log(again).body, again.state("/p")) == (entries, state)
    assert [past(again, version, "/p/count").json for version in range(7)] == [0, 1, 2, 3, 4, 2, 0]
    assert again.server.session(fork).state("/p/count") == 4
    with again.stream("/p/count", cursor=cursor) as stream:
        assert stream.expect("change").changed == {"/p/count": 0}


def test_kill_9_rounds_lose_no_acknowledged_restore(serve, data):
    chance = random.Random(7)
    acked, enough = [], threading.Event()
    for _ in range(4):
        server = serve(data)
        session = server.session("s")
        if acked:
            versions = {entry["version"]: entry["event"] for entry in log(session).json}
            for version, event in acked:
                assert versions[version] == event, version
            assert sorted(versions) == list(range(1, len(versions) + 1))
            for version in chance.sample(sorted(versions), 3):
                assert past(session, version).status == 200

        def work(thread):
            for count in itertools.count():
                try:
                    event = {"rename": f"{thread}-{count}"}
                    answer = session.post(event)
                    if count % 3 == 2 and answer.status == 200:
                        version = max(answer.json["version"] - 2, 0)
                        event, answer = {"$restore": {"version": version}}, post(session, f"restore?version={version}")
                except (OSError, EOFError, IndexError, ValueError):
                    return
                if answer.status == 200 and answer.json["changes"]:
                    acked.append((answer.json["version"], event))
                    if len(acked) % 20 == 0:
                        enough.set()

        enough.clear()
        with threads(3, work):
            assert enough.wait(PATIENCE)
            server.kill()


def test_the_log_and_earlier_versions_begin_at_the_version_that_the_session_reports(serve, data):
    session = serve(data).session("s")
    for count in range(700):
        session.dispatch({"setWarnAt": count + 1})
    kept = session.info()["retained"]
    assert kept == {"from": 1, "to": 700}
    for version in (0, 1, 255, 256, 257, 511, 512, 513, 700):
        assert past(session, version, "/p/limits/warnAt").json == (version or 80)
