# `rivulet doctor --via URL` finds nothing wrong with the shipped configurations, and names each fault of a broken one.

import contextlib
import http.server
import re
import socket
import subprocess
import threading

import pytest

from fronts import KINDS, NAME, Front, free_ports, shipped
from harness import PATIENCE, ROOT, Server, binary, environment

def run(*arguments, home="/nowhere", path=None):
    """Runs the binary. `home` is the folder of curl's own configuration."""
    variables = environment() | {"CURL_HOME": str(home)} | ({"PATH": path} if path else {})
    return subprocess.run([binary(), *map(str, arguments)], capture_output=True, text=True, timeout=3 * PATIENCE, env=variables)


@pytest.fixture
def doctor(authority, tmp_path):
    """Runs the command with a curl that knows the name and trusts its certificate."""

    def start(front, *arguments):
        (tmp_path / ".curlrc").write_text(f'cacert = "{authority.file}"\nresolve = "{NAME}:{front.port}:127.0.0.1"\n')
        return run("doctor", "--via", f"https://{NAME}:{front.port}", *arguments, home=tmp_path)

    return start


@pytest.fixture(scope="module", params=KINDS)
def front(request, options, authority, tmp_path_factory):
    """Each proxy with its shipped configuration, and a server with the public URL of this proxy."""
    ports = free_ports(2)
    with Server(None, arguments=[*options, "--public-url", f"https://{NAME}:{ports[0]}"]) as server:
        with Front(request.param, server.port, authority, tmp_path_factory.mktemp(request.param), ports=ports) as front:
            yield front


@pytest.fixture
def broken(serve, authority, tmp_path):
    """Starts a server, and nginx with a configuration in which lines are replaced."""
    fronts = []

    def start(*changed, arguments=("--trusted-proxies", "127.0.0.1", "--open", "--public-url")):
        ports = free_ports(2)
        url = [f"https://{NAME}:{ports[0]}"] if arguments else []
        server = serve(None, arguments=[*arguments, *url])
        fronts.append(Front("nginx", server.port, authority, tmp_path / "broken", changed, ports))
        return fronts[-1]

    yield start
    for front in fronts:
        front.__exit__()


def faults(outcome):
    """The lines about faults by their subject."""
    assert outcome.returncode == 1 and outcome.stderr == "", outcome
    lines = outcome.stdout.splitlines()
    found = dict(re.fullmatch(r"FAULT  (.*?): (.*)", line).groups() for line in lines if line.startswith("FAULT"))
    assert lines[-1] == f"{len(found)} fault{'s' * (len(found) != 1)}"
    return found


def test_a_shipped_configuration_has_no_faults(front, doctor, issuer, tmp_path):
    token = tmp_path / "token"
    token.write_text(issuer.token("alice") + "\n")
    outcome = doctor(front, "--token-file", token, "--watch", 1)
    assert outcome.returncode == 0 and outcome.stderr == "", outcome
    assert outcome.stdout.splitlines()[-1] == "no faults"
    assert "skip" not in outcome.stdout
    assert issuer.token("alice")[-20:] not in outcome.stdout
    shown = [without_numbers(line) for line in shown_on_the_page() if line.startswith("ok")]
    assert len(shown) >= 4 and set(shown) <= set(map(without_numbers, outcome.stdout.splitlines())), shown


def shown_on_the_page():
    """The lines of the report on the page."""
    [report] = re.findall(r"^```console\n\$ rivulet doctor .*?\n(.*?)^```$", (ROOT / "Documentation/Deploying.md").read_text(), re.S | re.M)
    return report.splitlines()


def without_numbers(line):
    return re.sub(r"\d+", "0", line)


def test_without_a_token_the_public_resources_are_checked(front, doctor):
    outcome = doctor(front, "--watch", 1)
    assert outcome.returncode == 0, outcome
    assert "skip   stream: no stream is known; give --stream and --token-file" in outcome.stdout
    if front.kind != "nginx":
        return
    other = doctor(front, "--stream", "/v1/apps/counter/sessions/s/changes", "--watch", 1)
    assert other.returncode == 0 and "skip   stream: /v1/apps/counter/sessions/s/changes is 401" in other.stdout, other


def test_a_proxy_that_buffers(doctor, broken):
    # The defaults of nginx, if it did not know X-Accel-Buffering.
    front = broken(("proxy_http_version 1.1;", ""), ("proxy_buffering off;", "proxy_ignore_headers X-Accel-Buffering;"))
    found = faults(doctor(front, "--watch", 1))
    # The proxy names itself in its answers.
    assert found.keys() == {"stream"} and "`proxy_buffering off;`" in found["stream"] and "Caddy" not in found["stream"], found


def test_a_proxy_that_holds_the_second_event_back(serve):
    with Holder(serve(None)) as holder:
        found = faults(run("doctor", "--via", f"http://127.0.0.1:{holder.port}", "--watch", 1))
    assert "no second event" in found["later events"] and "Caddy: `flush_interval -1`" in found["later events"]


def test_an_answer_cannot_give_curl_another_option(tmp_path):
    written, paths = tmp_path / "written", []

    class Answers(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            paths.append(self.path)
            app = f"a\noutput={written}\n"
            body = ('{"apps":[{"name":"' + app + '"}]}').encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body + b"\n\ndata: a\n\n")

        do_POST = do_PATCH = do_GET

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        outcome = run("doctor", "--via", f"http://127.0.0.1:{server.server_port}", "--watch", 1)
        server.shutdown()
    # The text became a part of addresses, without its line breaks.
    assert outcome.returncode == 1 and any("aoutput" in path for path in paths) and not written.exists(), outcome


class Holder:
    """A proxy that passes everything on but the events after the first of each stream."""

    def __init__(self, upstream):
        self.upstream = upstream
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.listener.accept()[0]
                server = socket.create_connection(("127.0.0.1", self.upstream.port))
                threading.Thread(target=self.pass_on, args=(client, server, None), daemon=True).start()
                threading.Thread(target=self.pass_on, args=(server, client, b"\ndata: "), daemon=True).start()

    def pass_on(self, source, target, last):
        with contextlib.suppress(OSError), source, target:
            held = False
            while part := source.recv(65536):
                if not held:
                    target.sendall(part)
                held = held or (last is not None and last in part)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


def test_a_proxy_that_drops_the_last_event_id(doctor, broken):
    front = broken(("proxy_buffering off;", 'proxy_buffering off; proxy_set_header Last-Event-ID "";'))
    found = faults(doctor(front, "--watch", 1))
    assert found.keys() == {"Last-Event-ID"} and "FAULT  Last-Event-ID: " + found["Last-Event-ID"] in shown_on_the_page(), found


def test_a_proxy_that_cuts_quiet_streams(doctor, broken):
    front = broken(("proxy_read_timeout 1h;", "proxy_read_timeout 2s;"))
    found = faults(doctor(front, "--watch", 4))
    assert found.keys() == {"quiet stream"} and "`proxy_read_timeout 1h;`" in found["quiet stream"], found


def test_a_proxy_with_other_faults(doctor, broken):
    front = broken(
        ("ssl http2", "ssl"), ("client_max_body_size 0;", "client_max_body_size 100k; expires 1h;"),
        ("proxy_set_header Host $host;", "proxy_set_header Host 127.0.0.1;"), (f"server_name {NAME};", f"server_name {NAME} doctor.invalid;"),
        ("location = /metrics { return 404; }", ""), ("location = /v1/streams { return 404; }", ""), arguments=(),
    )  # fmt: skip
    found = faults(doctor(front, "--watch", 1))
    assert found.keys() == {
        "protocol", "host", "other hosts", "client's protocol", "caching", "bodies", "operators' /metrics", "operators' /v1/streams",
    }, found  # fmt: skip
    # Each remedy is a line of the shipped configuration.
    remedies = [line for text in found.values() for line in re.findall(r"nginx: `(.*?)`", text)]
    assert len(remedies) >= 6 and all(remedy in shipped("nginx") for remedy in remedies), remedies


def test_every_remedy_is_a_line_of_the_shipped_configurations():
    """Those of proxies that no test breaks, too."""
    source = (ROOT / "Sources/RivuletCLI/Doctor/DoctorFinding.swift").read_text()
    for kind in KINDS:
        for line in re.findall(rf'^ +{kind}: "(.*)",?$', source, re.M):
            assert line.replace("\\(path)", "/metrics") in shipped(kind), (kind, line)


def test_a_deployment_that_does_not_answer(doctor, broken):
    front = broken()
    front.stop()
    assert "Failed to connect" in faults(doctor(front))["reachable"]


def test_a_machine_without_curl():
    outcome = run("doctor", "--via", "https://rivulet.example", path="/nowhere")
    assert "install curl" in faults(outcome)["reachable"]


@pytest.mark.parametrize(
    "arguments", [["--via", "rivulet.example"], ["--watch", "0"], ["--stream", "v1"], ["--stream", "/v1/a b"], ["--token-file", "/nowhere"]]
)
def test_wrong_arguments_are_refused(arguments):
    outcome = run("doctor", "--via", "https://rivulet.example", *arguments)
    assert outcome.returncode == 1 and outcome.stdout == ""
    assert outcome.stderr.startswith("rivulet: ") and arguments[0] in outcome.stderr and outcome.stderr.count("\n") == 1
