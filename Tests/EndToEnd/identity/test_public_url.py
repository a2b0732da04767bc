# The public URL: one option for the host, pages, cookies, audience and documents of a server behind a proxy.

import json
from urllib.parse import urljoin

import pytest

from harness import Connection, Server, message
from tokens import Issuer, encoded

URL = "https://rivulet.example"
LOGIN = "https://login.example"
ME = "/v1/apps/counter/sessions/me/state"


@pytest.fixture(scope="module")
def issuer(tmp_path_factory):
    return Issuer(tmp_path_factory.mktemp("issuer"))


@pytest.fixture(scope="module")
def server(tmp_path_factory, issuer):
    folder = tmp_path_factory.mktemp("public")
    (folder / "jwks.json").write_text(json.dumps({"keys": [{"kty": "oct", "alg": "HS256", "k": encoded(issuer.secret)}]}))
    (folder / "jwks.json").chmod(0o600)
    everything = [{"actions": ["*"], "app": "*", "sessions": ["*"]}]
    (folder / "policy.json").write_text(json.dumps({"authenticated": everything, "anonymous": everything}))
    options = ["--public-url", URL, "--jwks", folder / "jwks.json", "--issuer", LOGIN, "--policy", folder / "policy.json"]
    with Server(None, arguments=options) as server:
        yield server
        assert server.stop() == 0, server.log_text()


def ask(server, method, target, **headers):
    return server.request(method, target, headers={"Host": "rivulet.example"} | headers)


def test_its_host_is_in_the_host_list_and_its_pages_are_the_servers_own(server):
    assert ask(server, "GET", "/v1/me").status == 200
    # A proxy that replaces the host does not make the pages foreign.
    assert ask(server, "GET", "/v1/me", Host="127.0.0.1", Origin=URL).status == 200
    assert ask(server, "GET", "/v1/me", Host="127.0.0.1", Origin="https://evil.example").status == 403


def test_it_is_the_audience_of_tokens(server, issuer):
    right, wrong = (issuer.bearer("alice", iss=LOGIN, aud=audience) for audience in (URL, "https://other.example"))
    assert ask(server, "GET", "/v1/me", **right).json["subject"] == "alice"
    assert ask(server, "GET", "/v1/me", **wrong).status == 401


def test_documents_name_it(server, issuer):
    bearer = issuer.bearer("alice", iss=LOGIN, aud=URL)
    assert ask(server, "GET", "/openapi.json", **bearer).json["servers"] == [{"url": URL}]
    metadata = ask(server, "GET", "/.well-known/oauth-protected-resource").json
    assert metadata["resource"] == URL and metadata["authorization_servers"] == [LOGIN]


def test_a_refused_credential_leads_to_the_metadata(server):
    for headers, error in ({}, ""), ({"Authorization": "Bearer x"}, 'error="invalid_token", '):
        answer = ask(server, "PUT", "/v1/login", **headers)
        assert answer.status == 401
        assert answer.headers["www-authenticate"] == f'Bearer {error}resource_metadata="{URL}/.well-known/oauth-protected-resource"'


def test_addresses_in_answers_are_relative_so_they_lead_to_it(server):
    created = ask(server, "POST", "/v1/apps/counter/sessions")
    assert urljoin(URL, created.headers["location"]) == f"{URL}/v1/apps/counter/sessions/{created.json['id']}"
    with Connection(server) as connection:
        connection.send(message("GET", created.headers["location"] + "/changes"))
        _, headers = connection.stream_head()
        target, _, relation = headers["link"].partition(">; ")
        assert relation == 'rel="edit"' and urljoin(URL, target[1:]).startswith(f"{URL}/v1/streams/")


@pytest.mark.parametrize(("url", "secure"), [(URL, True), (f"{URL}/", True), ("http://rivulet.example", False)])
def test_with_https_all_cookies_are_for_tls_only(url, secure):
    with Server(None, arguments=["--public-url", url, "--open"]) as server:
        for headers in ({}, {"X-Forwarded-Proto": "http"}):
            assert ("; Secure" in ask(server, "GET", ME, **headers).headers["set-cookie"]) == secure
        # Paths of the document begin with a slash.
        assert ask(server, "GET", "/openapi.json").json["servers"] == [{"url": url.removesuffix("/")}]
