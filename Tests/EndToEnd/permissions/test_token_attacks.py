# Each attack on a token is the same 401 over HTTP, for three kinds of keys, and the log has no part of the token.

import hashlib
import hmac
import json
import os
import subprocess
import time

import pytest

from harness import Connection, Server
from permission_programs import unlimited
from tokens import encoded

ISSUER, AUDIENCE = "https://issuer.example", "https://api.example"
KINDS = {"RS256": ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"], "ES256": ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"]}


def openssl(*arguments, text=b""):
    return subprocess.run(["openssl", *map(str, arguments)], input=text, capture_output=True, check=True).stdout


def raw_signature(der):
    """The two numbers of an ECDSA signature, of 32 bytes each, from its ASN.1 form of short lengths."""
    first = der[4 : 4 + der[3]]
    second = der[6 + der[3] :]
    return b"".join(number.lstrip(b"\0").rjust(32, b"\0") for number in (first, second))


class Key:
    """The key of an issuer, and the file with its public half or its secret."""

    def __init__(self, algorithm, folder):
        self.algorithm, self.file = algorithm, folder / algorithm
        if algorithm == "HS256":
            self.secret = os.urandom(48).replace(b"\n", b"x")
            self.public = self.secret
        else:
            self.private = folder / f"{algorithm}.private"
            openssl("genpkey", "-algorithm", *KINDS[algorithm], "-out", self.private)
            self.public = openssl("pkey", "-in", self.private, "-pubout")
        self.file.write_bytes(self.public)
        self.file.chmod(0o600)

    def signature(self, text):
        if self.algorithm == "HS256":
            return hmac.digest(self.secret, text, hashlib.sha256)
        signature = openssl("dgst", "-sha256", "-sign", self.private, text=text)
        return signature if self.algorithm == "RS256" else raw_signature(signature)

    def signed(self, header, claims):
        """A token of a header and claims, each a value, a JSON text or bytes."""
        parts = [part.encode() if isinstance(part, str) else part for part in (header, claims)]
        text = ".".join(encoded(part) for part in parts)
        return f"{text}.{encoded(self.signature(text.encode()))}"

    def claims(self, **changes):
        now = int(time.time())
        all_claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": "alice", "iat": now, "exp": now + 600} | changes
        return {name: value for name, value in all_claims.items() if value is not ...}

    def header(self, **changes):
        header = {"alg": self.algorithm, "typ": "at+jwt"} | changes
        return {name: value for name, value in header.items() if value is not ...}


def attacks(key):
    """Tokens by the name of the attack."""
    now, found = int(time.time()), {}
    good = key.signed(key.header(), key.claims())
    head, body, signature = good.split(".")
    for value in ["none", "None", "nOnE", "NONE", "", "hs256", "HS384", "HS512", "RS384", "RS512", "PS256", "ES256K", "ES512", "EdDSA", "none\0", " " + key.algorithm, 256, None, ["HS256"], ...]:
        if value != key.algorithm:
            found[f"alg {value}"] = key.signed(key.header(alg=value), key.claims())
    found["alg of another kind"] = key.signed(key.header(alg="HS256" if key.algorithm != "HS256" else "RS256"), key.claims())
    for name in ("none", "None"):
        text = f"{encoded(key.header(alg=name))}.{body}"
        found |= {f"alg {name} without a signature": text + ".", f"alg {name} with two parts": text}
    for secret in (key.public, key.public.strip(), hashlib.sha256(key.public).digest(), b"", b"secret"):
        if secret != key.public or key.algorithm != "HS256":
            text = f"{encoded(key.header(alg='HS256'))}.{body}"
            found[f"a public text as the secret {secret[:8]}{len(secret)}"] = f"{text}.{encoded(hmac.digest(secret, text.encode(), hashlib.sha256))}"
    for name, value in {"jku": "https://evil.example/jwks", "x5u": "https://evil.example/x", "x5c": ["MIIB"], "jwk": {"kty": "oct", "k": "AA"}, "crit": ["exp"], "b64": False, "zip": "DEF", "cty": "JWT",
                        "enc": "A256GCM"}.items():  # fmt: skip
        found[f"header {name}"] = key.signed(key.header(**{name: value}), key.claims())
    for value in ["JWT", "", "at+jwt;x", "at+jwt\0", "dpop+jwt", ["at+jwt"], ...]:
        found[f"typ {value}"] = key.signed(key.header(typ=value), key.claims())
    for claim, values in {
        "exp": [now - 6, 0, -1, str(now + 60), None, True, [now + 60], {}, 1e99, now + 90_000, (now + 60) * 1_000, ...],
        "nbf": [now + 60, str(now), None, -5], "iat": [now + 60, str(now), None, -1, ...],
        "iss": ["https://evil.example", ISSUER + "/", ISSUER.upper(), "", None, 1, [ISSUER], ...],
        "aud": ["https://other.example", AUDIENCE + "/", AUDIENCE + ".evil.example", AUDIENCE.upper(), "*", "", [], None, 1, True, {AUDIENCE: 1}, [[AUDIENCE]], ...],
        "sub": ["", None, 1, ["alice"], "a" * 256, "a\nb", "a\0", ...], "jti": [1, "", "j" * 256],
        "authorization_details": [[{"type": "rivulet", "actions": ["fly"]}], [{"type": "rivulet"}], {"type": "rivulet"}, "rivulet", [1]],
    }.items():  # fmt: skip
        found |= {f"{claim} {index} {str(value)[:40]}": key.signed(key.header(), key.claims(**{claim: value})) for index, value in enumerate(values)}
    raw = json.dumps(key.claims())
    found |= {
        "a claim twice": key.signed(key.header(), '{"sub":"root",' + raw[1:]), "a claim twice by an escape": key.signed(key.header(), '{"\\u0073ub":"root",' + raw[1:]),
        "alg twice": key.signed('{"alg":"none",' + json.dumps(key.header())[1:], key.claims()), "claims as an array": key.signed(key.header(), "[]"),
        "claims as a text": key.signed(key.header(), '"x"'), "text behind the claims": key.signed(key.header(), raw + "{}"), "a byte order mark": key.signed(key.header(), "\ufeff" + raw),
        "claims that are no UTF-8": key.signed(key.header(), raw.encode().replace(b"alice", b"\xff")), "a header as an array": key.signed("[]", key.claims()),
        "an empty header": key.signed("", key.claims()), "a deep header": key.signed('{"x":' + "[" * 900 + "]" * 900 + "}", key.claims()), "deep claims": key.signed(key.header(), '{"x":' + "[" * 900 + "]" * 900 + "}"),
        "9,000 bytes": key.signed(key.header(), key.claims(x="x" * 9_000)), "a nested token": key.signed(key.header(), f'"{good}"'),
        "no signature": f"{head}.{body}.", "a short signature": good[:-8], "a long signature": good + "AAAA", "another signature": f"{head}.{body}.{encoded(bytes(len(signature) * 3 // 4))}",
        "a padded signature": good + "=", "a signature of DER": f"{head}.{body}.{encoded(bytes([0x30, 6, 2, 1, 1, 2, 1, 1]))}", "a signature of other claims": f"{head}.{encoded(key.claims(sub='root'))}.{signature}",
        "two parts": f"{head}.{body}", "four parts": good + ".x", "five parts": f"{head}.{body}.{signature}.{body}.{signature}", "dots": "..", "no dots": head + body + signature, "standard base64": f"{head}.{body}.{'+' + signature[1:]}",
        "a percent": f"{head}.{body}.%41{signature[3:]}", "a quoted token": f'"{good}"', "a comma": good + ",", "another key": Key(key.algorithm, key.file.parent / "other").signed(key.header(), key.claims()),
        "a key id in a path": "rvk_../../../../_" + "A" * 43 + "_00000000", "an API key without a checksum": "rvk_00000000_" + "A" * 43,
    }  # fmt: skip
    return found


@pytest.mark.parametrize("algorithm", ["HS256", "RS256", "ES256"])
def test_an_attack_on_a_token_is_the_same_401(tmp_path, algorithm):
    (tmp_path / "other").mkdir()
    key = Key(algorithm, tmp_path)
    arguments = ["--jwt-key-file", key.file, "--jwt-alg", algorithm, "--issuer", ISSUER, "--audience", AUDIENCE, *unlimited()]
    with Server(None, arguments=arguments) as server:
        good = key.signed(key.header(), key.claims())
        assert server.request("GET", "/v1/me", headers={"Authorization": f"Bearer {good}"}).json["subject"] == "alice"
        bodies, cases = set(), attacks(key)
        assert len(cases) >= 80
        for name, token in cases.items():
            # A cookie takes the same way; the names of both cookies are looked at on loopback.
            for fields in ({"Authorization": f"Bearer {token}"}, {"Cookie": f"rivulet-token={token}"}):
                if "Cookie" in fields and len(token) > 8_000:
                    continue
                with Connection(server) as connection:
                    answer = connection.request("GET", "/v1/me", None, fields)
                assert answer.status == 401, (name, answer)
                assert answer.headers["www-authenticate"] == 'Bearer error="invalid_token"', name
                document = answer.json
                document.pop("trace_id", None)
                bodies.add(json.dumps(document))
        assert len(bodies) == 1
        log = server.log_text()
        parts = {part for token in cases.values() for part in token.split(".") if len(part) > 60}
        assert not [part for part in parts if part in log]
        assert server.request("GET", "/v1/me", headers={"Authorization": f"Bearer {good}"}).status == 200
