# Runs the configurations of Deployment/ with the proxies of the machine, in front of a server under test.
"""The proxies, their certificates, and a recorder that takes the server's place."""

import base64
import contextlib
import hashlib
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time

from harness import PATIENCE, ROOT, Answer, Connection, environment, message

#: The server's name in the configurations.
NAME = "rivulet.example"
KINDS = ("caddy", "nginx", "haproxy")
FILES = {"caddy": "Caddyfile", "nginx": "nginx.conf", "haproxy": "haproxy.cfg"}


def shipped(kind):
    """The configuration as the repository has it."""
    return (ROOT / "Deployment" / FILES[kind]).read_text()


def free_ports(count):
    """Ports of 127.0.0.1 that nothing uses now."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def openssl(*arguments):
    return subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True).stdout


class Authority:
    """A certificate authority of one test run, with one certificate for NAME."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.file = self.folder / "authority.pem"
        names = self.folder / "names"
        names.write_text("[req]\ndistinguished_name = none\n[none]\n")
        key = ["req", "-x509", "-config", names, "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"]
        openssl(*key, "-subj", "/CN=Tests", "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "subjectKeyIdentifier=hash",
                "-keyout", self.folder / "authority.key", "-out", self.file)  # fmt: skip
        mine = self.folder / NAME
        openssl(*key, "-subj", f"/CN={NAME}", "-CA", self.file, "-CAkey", self.folder / "authority.key",
                "-addext", f"subjectAltName=DNS:{NAME}", "-keyout", f"{mine}.key", "-out", f"{mine}.pem")  # fmt: skip
        pathlib.Path(f"{mine}.both.pem").write_text(pathlib.Path(f"{mine}.pem").read_text() + pathlib.Path(f"{mine}.key").read_text())
        public = openssl("x509", "-in", f"{mine}.pem", "-pubkey", "-noout")
        shown = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "der"], input=public, check=True, capture_output=True).stdout
        #: The hash by which Chromium trusts the certificate.
        self.fingerprint = base64.b64encode(hashlib.sha256(shown).digest()).decode()

    def context(self, protocols=("http/1.1",)):
        """A client that trusts this authority alone."""
        context = ssl.create_default_context(cafile=self.file)
        context.set_alpn_protocols(list(protocols))
        return context


class Front:
    """One running proxy on ports of 127.0.0.1, in front of the server at `upstream`.

    `changed` are further replacements in the shipped text: a deliberately broken configuration. `ports` are for TLS and without.
    """

    def __init__(self, kind, upstream, authority, folder, changed=(), ports=None):
        self.kind, self.authority = kind, authority
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port, self.plain = ports or free_ports(2)
        text = shipped(kind)
        for old, new in [*getattr(self, "_" + kind)(upstream), ("/etc/ssl/", f"{authority.folder}/"), *changed]:
            assert old in text, f"{FILES[kind]} has no {old!r}"
            text = text.replace(old, new)
        self.file = self.folder / FILES[kind]
        self.file.write_text(text)
        self.address = f"https://{NAME}:{self.port}"
        self.start()

    # The replacements concern addresses, ports and paths alone.

    def _caddy(self, upstream):
        ports = f"admin off\n\tdefault_bind 127.0.0.1\n\thttp_port {self.plain}\n\thttps_port {self.port}\n\tservers {{"
        return [("servers {", ports), (":443 {", f":{self.port} {{"), ("# tls ", "tls "), ("127.0.0.1:8080", f"127.0.0.1:{upstream}")]

    def _nginx(self, upstream):
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        folders = "".join(f"\n    {kind}_temp_path {self.folder}/{kind};" for kind in kinds)
        return [
            ("http {", "http {" + folders), ("listen 80;", f"listen 127.0.0.1:{self.plain};"),
            ("listen 443 ", f"listen 127.0.0.1:{self.port} "), ("127.0.0.1:8080", f"127.0.0.1:{upstream}"),
        ]  # fmt: skip

    def _haproxy(self, upstream):
        return [
            ("bind :80", f"bind 127.0.0.1:{self.plain}"), ("bind :443", f"bind 127.0.0.1:{self.port}"),
            ("127.0.0.1:8080", f"127.0.0.1:{upstream}"),
        ]  # fmt: skip

    def _command(self):
        program = shutil.which(self.kind, path=os.environ["PATH"] + ":/usr/sbin")
        assert program, f"no {self.kind}: Tests/run tools installs it"
        return {
            "caddy": [program, "run", "--config", self.file, "--adapter", "caddyfile"],
            "nginx": [program, "-c", self.file, "-e", self.folder / "errors", "-g", f"daemon off; pid {self.folder}/pid;"],
            "haproxy": [program, "-db", "-f", self.file],
        }[self.kind]

    def start(self):
        with (self.folder / "output").open("ab") as output:
            self.process = subprocess.Popen(
                self._command(), stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                env=environment() | {"XDG_DATA_HOME": f"{self.folder}", "XDG_CONFIG_HOME": f"{self.folder}"},
            )  # fmt: skip
        end = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            assert self.process.poll() is None and time.monotonic() < end, self.output()
            time.sleep(0.01)

    def output(self):
        return "".join((self.folder / name).read_text() for name in ("output", "errors") if (self.folder / name).exists())

    def stop(self):
        """Stops the proxy with SIGTERM, as systemd does."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)

    def connect(self, protocols=("http/1.1",), name=NAME):
        """A connection with TLS, which reads and writes bytes as they are."""
        connection = Connection(self)
        connection.socket = self.authority.context(protocols).wrap_socket(connection.socket, server_hostname=name)
        return connection

    def request(self, method, target, body=None, headers=None):
        """The answer to one request over HTTP/1.1, on a separate connection."""
        with self.connect() as connection:
            connection.send(message(method, target, body, {"Host": f"{NAME}:{self.port}"} | (headers or {})))
            status, fields = connection.head()
            if "content-length" in fields or status in (204, 304):
                count = 0 if method == "HEAD" or status in (204, 304) else int(fields["content-length"])
                return Answer(status, fields, connection._exactly(count))
            assert fields["connection"] == "close" and "transfer-encoding" not in fields, fields
            assert connection.ended()
            return Answer(status, fields, connection.buffer)

    def curl(self, path, *arguments):
        """Starts curl through the proxy; it prints the body."""
        return subprocess.Popen(
            ["curl", "-sSN", "--max-time", str(PATIENCE), "--cacert", self.authority.file,
             "--resolve", f"{NAME}:{self.port}:127.0.0.1", self.address + path, *arguments],
            stdout=subprocess.PIPE, text=True, env=environment(),
        )  # fmt: skip

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is not None:
            return
        # Caddy waits for its clients, and a killed nginx leaves its workers.
        if self.kind == "caddy":
            self.process.kill()
        self.stop()


class Recorder:
    """A server on 127.0.0.1 that records the head of each request, and answers 200 with `ok`."""

    def __init__(self):
        self.heads = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=self._listener.accept()[:1], daemon=True).start()

    def _serve(self, client):
        received = b""
        with client, contextlib.suppress(OSError):
            while part := client.recv(65536):
                received += part
                while b"\r\n\r\n" in received:
                    head, _, received = received.partition(b"\r\n\r\n")
                    self.heads.append(head.decode("latin-1"))
                    client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok")

    def fields(self):
        """The fields of the last request: pairs of a name in lower case and a value."""
        lines = self.heads[-1].split("\r\n")[1:]
        return [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.close()
