# Signs tokens for the tests of credentials, also tokens that no issuer would sign.

import base64
import hashlib
import hmac
import json
import os
import time


def encoded(data):
    """Base64url without padding, of bytes or of a value as JSON."""
    data = data if isinstance(data, bytes) else json.dumps(data).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Issuer:
    """An issuer with a secret, which is in a file that the server reads."""

    def __init__(self, folder):
        self.secret = os.urandom(48).replace(b"\n", b"x")
        self.file = folder / "secret"
        self.file.write_bytes(self.secret)
        self.file.chmod(0o600)

    def token(self, subject, *roles, header=None, **claims):
        """A token that is valid for an hour. A claim of None is left out."""
        now = int(time.time())
        all_claims = {"sub": subject, "iat": now, "exp": now + 3600, "roles": roles} | claims
        kept = {name: value for name, value in all_claims.items() if value is not None}
        return self.signed({"alg": "HS256", "typ": "at+jwt"} | (header or {}), kept)

    def signed(self, header, claims):
        text = f"{encoded(header)}.{encoded(claims)}"
        return f"{text}.{encoded(hmac.digest(self.secret, text.encode(), hashlib.sha256))}"

    def bearer(self, subject, *roles, **claims):
        """The header field with such a token."""
        return {"Authorization": "Bearer " + self.token(subject, *roles, **claims)}
