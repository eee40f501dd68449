# SPDX-License-Identifier: MIT
"""A small provider of OpenID Connect for tests: discovery, keys, authorization codes with PKCE, ID tokens
signed with RS256 or ES256. Each part of an answer can be replaced by a wrong one."""
import base64
import hashlib
import hmac
import http.server
import json
import secrets
import threading
import time
import urllib.parse

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

SECRET = "s3cret/with+marks"


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value, size=None):
    return encode(value.to_bytes(size or (value.bit_length() + 7) // 8, "big"))


class Key:
    def __init__(self, kid, alg="RS256", bits=2048):
        self.kid, self.alg = kid, alg
        self.private = (ec.generate_private_key(ec.SECP256R1()) if alg == "ES256"
                        else rsa.generate_private_key(65537, bits))

    @property
    def public(self):
        numbers = self.private.public_key().public_numbers()
        if self.alg == "ES256":
            return {"kty": "EC", "crv": "P-256", "kid": self.kid, "use": "sig", "alg": self.alg,
                    "x": number(numbers.x, 32), "y": number(numbers.y, 32)}
        return {"kty": "RSA", "kid": self.kid, "use": "sig", "n": number(numbers.n), "e": number(numbers.e)}

    @property
    def pem(self):
        return self.private.public_key().public_bytes(serialization.Encoding.PEM,
                                                      serialization.PublicFormat.SubjectPublicKeyInfo)

    def sign(self, data):
        if self.alg == "ES256":
            r, s = decode_dss_signature(self.private.sign(data, ec.ECDSA(hashes.SHA256())))
            return r.to_bytes(32, "big") + s.to_bytes(32, "big")
        if self.alg == "PS256":
            return self.private.sign(data, padding.PSS(padding.MGF1(hashes.SHA256()), 32), hashes.SHA256())
        return self.private.sign(data, padding.PKCS1v15(), hashes.SHA256())


class Provider(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, client="retake-test"):
        super().__init__(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.server_address[1]}/realm"
        self.client = client
        self.keys = [Key("first")]
        self.listed = None       # other keys than these
        self.codes = {}          # code: the query of the request
        self.used = []           # verifiers, secrets: what the token endpoint received
        self.subject, self.name = "1001", "Ann.Smith@example.org"
        self.extra = {}          # claims; None: left out
        self.header = {}         # of the ID token
        self.signer = None       # replaces the signature
        self.describe = {}       # members of the discovery document
        self.answer = {}         # path: function of a handler instead of the usual one
        self.access = "access-" + secrets.token_urlsafe(8)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def reset(self):
        self.listed = self.signer = None
        self.extra, self.header, self.describe, self.answer = {}, {}, {}, {}
        self.subject, self.name = "1001", "Ann.Smith@example.org"

    def discovery(self):
        return {"issuer": self.issuer, "authorization_endpoint": self.issuer + "/auth?tenant=a b".replace(" ", "%20"),
                "token_endpoint": self.issuer + "/token", "jwks_uri": self.issuer + "/keys",
                "code_challenge_methods_supported": ["S256"], "response_types_supported": ["code"], **self.describe}

    def authorize(self, url):
        """What the person's browser does: signs in, and gets the address to go back to."""
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))
        code = secrets.token_urlsafe(16)
        self.codes[code] = query
        return query, code

    def token(self, asked):
        key = self.keys[-1]
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": self.client, "sub": self.subject, "exp": now + 300, "iat": now,
                  "nonce": asked["nonce"], "preferred_username": self.name,
                  "at_hash": encode(hashlib.sha256(self.access.encode()).digest()[:16]), **self.extra}
        header = {"alg": key.alg, "kid": key.kid, "typ": "JWT", **self.header}
        parts = [{name: value for name, value in part.items() if value is not None} for part in (header, claims)]
        data = ".".join(encode(json.dumps(part).encode()) for part in parts).encode()
        return data.decode() + "." + encode((self.signer or key.sign)(data))


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def send(self, value, status=200):
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def route(self):
        path = urllib.parse.urlsplit(self.path).path.removeprefix("/realm")
        replaced = self.server.answer.get(path)
        if replaced:
            try:
                replaced(self)
            except OSError:
                pass
            return None
        return path

    def do_GET(self):
        path = self.route()
        if path == "/.well-known/openid-configuration":
            self.send(self.server.discovery())
        elif path == "/keys":
            self.send({"keys": self.server.listed if self.server.listed is not None
                       else [key.public for key in self.server.keys]})
        elif path:
            self.send({"error": "not_found"}, 404)

    def do_POST(self):
        form = dict(urllib.parse.parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
        if self.route() != "/token":
            return
        server = self.server
        basic = self.headers.get("Authorization", "")
        given = base64.b64decode(basic[6:]).decode() if basic.startswith("Basic ") else ":"
        client, secret = (urllib.parse.unquote(part) for part in given.split(":", 1))
        if not client:
            client, secret = form.get("client_id", ""), form.get("client_secret", "")
        server.used.append({**form, "client": client, "secret": secret, "basic": bool(basic)})
        asked = server.codes.pop(form.get("code", ""), None)  # each code counts once
        verifier = form.get("code_verifier", "")
        if client != server.client or not hmac.compare_digest(secret, SECRET):
            self.send({"error": "invalid_client"}, 401)
        elif (asked is None or asked["redirect_uri"] != form.get("redirect_uri") or len(verifier) < 43 or
              encode(hashlib.sha256(verifier.encode()).digest()) != asked.get("code_challenge") or
              asked.get("code_challenge_method") != "S256"):
            self.send({"error": "invalid_grant"}, 400)
        else:
            self.send({"access_token": server.access, "token_type": "Bearer", "expires_in": 300,
                       "id_token": server.token(asked)})
