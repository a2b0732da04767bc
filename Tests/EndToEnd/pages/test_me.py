# The session id `me`: the caller's own session, named by a signed cookie.

import stat

import pytest

from harness import Connection, message, run

ME = "/v1/apps/counter/sessions/me"


def cookie_of(answer):
    """The cookie's value and its attributes."""
    name, _, rest = answer.headers["set-cookie"].partition("=")
    assert name == "rivulet-session"
    value, *attributes = rest.split("; ")
    return value, attributes


def sent(value):
    return {"Cookie": f"theme=dark; rivulet-session={value}"}


def test_a_caller_without_a_cookie_gets_one_that_names_its_session(shared):
    answer = shared.request("POST", ME + "/events", "increment")
    assert answer.status == 200
    value, attributes = cookie_of(answer)
    assert sorted(attributes) == ["HttpOnly", "Max-Age=31536000", "Path=/", "SameSite=Lax"]
    again = shared.request("POST", ME + "/events", "increment", sent(value))
    assert again.json["version"] == 2 and "set-cookie" not in again.headers
    assert again.headers["vary"] == "Cookie"
    info = shared.request("GET", ME, headers=sent(value)).json
    assert info["id"] == value.split(".")[0] and info["version"] == 2
    assert shared.session(info["id"]).state("/p/count") == 2


def test_callers_have_separate_sessions_in_every_app(shared):
    one, _ = cookie_of(shared.request("POST", ME + "/events", "increment"))
    two, _ = cookie_of(shared.request("POST", ME + "/events", "decrement"))
    assert one != two
    assert shared.request("GET", ME + "/state/p/count", headers=sent(one)).json == 1
    assert shared.request("GET", ME + "/state/p/count", headers=sent(two)).json == 0
    todos = ME.replace("counter", "todos")
    assert shared.request("GET", todos + "/state/p/filter", headers=sent(one)).json == "all"
    assert shared.request("GET", todos, headers=sent(one)).status == 404


def test_every_route_below_a_session_accepts_me(shared):
    created = shared.request("PUT", ME)
    value, _ = cookie_of(created)
    assert created.status == 201
    assert created.headers["location"] == f"/v1/apps/counter/sessions/{value.split('.')[0]}"
    assert shared.request("PUT", ME + "/state/p/count", 5, sent(value)).status == 200
    with Connection(shared) as connection:
        connection.send(message("GET", ME + "/changes?path=/p/count", headers=sent(value)))
        status, headers = connection.stream_head()
        assert status == 200 and headers["content-type"] == "text/event-stream" and "set-cookie" not in headers
        assert b'"/p/count":5' in connection.until(b"snapshot") + connection.until(b"\n\n")
    assert shared.request("DELETE", ME, headers=sent(value)).status == 204
    assert shared.request("GET", ME, headers=sent(value)).status == 404


def test_a_stream_sets_the_cookie_too(shared):
    with Connection(shared) as connection:
        connection.send(message("GET", ME + "/changes"))
        status, headers = connection.stream_head()
        assert status == 200 and headers["set-cookie"].startswith("rivulet-session=")


@pytest.mark.parametrize(
    "forge",
    [
        lambda value: value[:-1] + ("0" if value[-1] != "0" else "1"),
        lambda value: "a" + value,
        lambda value: value.split(".")[0],
        lambda value: value.split(".")[0] + ".",
        lambda value: "",
        lambda value: "me." + value.split(".")[1],
    ],
)
def test_a_forged_cookie_is_ignored(shared, forge):
    value, _ = cookie_of(shared.request("POST", ME + "/events", "increment"))
    answer = shared.request("GET", ME + "/state/p/count", headers=sent(forge(value)))
    assert answer.json == 0
    assert cookie_of(answer)[0].split(".")[0] != value.split(".")[0]


def test_the_valid_one_of_several_cookies_is_used(shared):
    value, _ = cookie_of(shared.request("POST", ME + "/events", "increment"))
    headers = {"Cookie": f"rivulet-session=x.y; rivulet-session={value}"}
    answer = shared.request("GET", ME + "/state/p/count", headers=headers)
    assert answer.json == 1 and "set-cookie" not in answer.headers


def test_a_cookie_is_secure_with_the_option_and_not_by_an_untrusted_header(shared, serve):
    forwarded = shared.request("GET", ME + "/state", headers={"X-Forwarded-Proto": "https"})
    assert "Secure" not in cookie_of(forwarded)[1]  # test_doors.py has trusted proxies.
    secure = serve(None, arguments=["--secure-cookies"])
    assert "Secure" in cookie_of(secure.get(ME + "/state"))[1]


def test_other_routes_set_no_cookie(shared, session):
    for target in ("/healthz", "/v1/apps", "/v1/apps/counter/sessions", session.path + "/state"):
        answer = shared.get(target)
        assert answer.status == 200 and "set-cookie" not in answer.headers
        assert "cookie" not in answer.headers.get("vary", "").lower()
    refused = shared.request("POST", "/v1/apps/counter/sessions", {"id": "me"})
    assert refused.problem["status"] == 400


def test_a_caller_keeps_its_session_across_a_restart(data, serve):
    server = serve(data)
    value, _ = cookie_of(server.request("POST", ME + "/events", "increment"))
    key = data / "secret.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    server.kill()
    server = serve(data)
    assert server.request("GET", ME + "/state/p/count", headers=sent(value)).json == 1
    server.stop()
    key.unlink()
    server = serve(data)
    answer = server.request("GET", ME + "/state/p/count", headers=sent(value))
    assert answer.json == 0 and "set-cookie" in answer.headers


def test_without_a_data_folder_each_start_makes_a_new_key(serve):
    value, _ = cookie_of(serve(None).request("POST", ME + "/events", "increment"))
    assert "set-cookie" in serve(None).request("GET", ME + "/state", headers=sent(value)).headers


def test_servers_with_one_key_in_the_environment_accept_each_others_cookies(tmp_path, serve, monkeypatch):
    monkeypatch.setattr("harness.environment", lambda: {"RIVULET_SECRET_KEY": "s" * 32})
    value, _ = cookie_of(serve(None).request("POST", ME + "/events", "increment"))
    path = tmp_path / "key"
    path.write_text("s" * 32 + "\n")
    path.chmod(0o600)
    monkeypatch.setattr("harness.environment", lambda: {"RIVULET_SECRET_KEY_FILE": str(path)})
    data = tmp_path / "data"
    assert "set-cookie" not in serve(data).request("GET", ME + "/state", headers=sent(value)).headers
    assert not (data / "secret.key").exists()


def test_a_cookie_of_the_older_key_is_replaced_by_one_of_the_current_key(tmp_path, serve, monkeypatch):
    value, _ = cookie_of(serve(tmp_path / "a").request("POST", ME + "/events", "increment"))
    older = {"RIVULET_OLDER_SECRET_KEY_FILE": str(tmp_path / "a" / "secret.key")}
    monkeypatch.setattr("harness.environment", lambda: {"RIVULET_SECRET_KEY": "s" * 32} | older)
    assert "secret key" not in serve(None).log_text()
    server = serve(tmp_path / "b")
    renewed, _ = cookie_of(server.request("GET", ME + "/state", headers=sent(value)))
    assert renewed.split(".")[0] == value.split(".")[0] and renewed != value
    assert "set-cookie" not in server.request("GET", ME + "/state", headers=sent(renewed)).headers
    assert "older secret key given" in server.log_text()


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"RIVULET_SECRET_KEY": "short"}, "5 bytes"),
        ({"RIVULET_SECRET_KEY_FILE": "/nowhere"}, "/nowhere"),
        ({"RIVULET_SECRET_KEY_FILE": "/nowhere", "RIVULET_SECRET_KEY": "s" * 32}, "both set"),
        ({"RIVULET_OLDER_SECRET_KEY": "short"}, "5 bytes"),
        ({"RIVULET_OLDER_SECRET_KEY_FILE": "/nowhere"}, "/nowhere"),
    ],
)
def test_an_invalid_key_prevents_the_start(monkeypatch, settings, words):
    monkeypatch.setattr("harness.environment", lambda: settings)
    ended = run("serve", "--port", "0", "--memory")
    assert ended.returncode == 1 and words in ended.stderr and ended.stderr.count("\n") == 1


def test_a_stored_key_that_others_may_read_is_refused(data, serve, monkeypatch):
    serve(data).stop()
    (data / "secret.key").chmod(0o640)
    ended = run("serve", "--port", "0", "--data", str(data))
    assert ended.returncode == 1 and "chmod 600" in ended.stderr
    monkeypatch.setattr("harness.environment", lambda: {"RIVULET_SECRET_KEY_FILE": str(data / "secret.key")})
    ended = run("serve", "--port", "0", "--memory")
    assert ended.returncode == 1 and "chmod 600" in ended.stderr


def test_a_start_logs_the_source_of_the_key(data, serve, monkeypatch):
    def notices(data):
        server = serve(data)
        server.stop()
        return [line for line in server.log_text().splitlines() if "key" in line]

    key = data / "secret.key"
    assert [line.partition(": ")[2].partition("] ")[2] for line in notices(data)] == [f"secret key made: {key}; keep it, see Documentation/Operating.md"]
    assert f"secret key read: {key}" in notices(data)[0]
    assert notices(None) == []
    monkeypatch.setattr("harness.environment", lambda: {"RIVULET_SECRET_KEY": "s" * 32})
    (line,) = notices(data)
    assert "secret key given" in line and "s" * 32 not in line
