#!/usr/bin/env python3
"""A server that behaves like the Hugging Face hub, and a second one that plays its content network; loopback only.

    fake_hub.py FOLDER

prints "HUB_PORT CDN_PORT" and serves until its standard input ends. FOLDER holds

    repos/OWNER/REPO/...   files of a repository; .gated and .private beside them hold the token that is let in
    plain/...              files without a hub: http://127.0.0.1:HUB_PORT/plain/...
    rules.json             what goes wrong: a list of {"server", "path", "times", ...}, see `Handler.rule`
    log                    written: a JSON line for each request
"""

import hashlib
import json
import os
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

folder = sys.argv[1]
lock = threading.Lock()
ports = {}


def digest(data):
    return hashlib.sha256(data).hexdigest()


def files_of(repository):
    root = os.path.join(folder, "repos", repository)
    files = {}
    for path, _, names in os.walk(root):
        for name in names:
            if name.startswith("."):
                continue
            full = os.path.join(path, name)
            with open(full, "rb") as file:
                files[os.path.relpath(full, root)] = file.read()
    return files


def commit_of(files):
    return hashlib.sha1("".join(f"{name}{digest(files[name])}" for name in sorted(files)).encode()).hexdigest()


def secret(repository, kind):
    try:
        with open(os.path.join(folder, "repos", repository, kind)) as file:
            return file.read().strip()
    except OSError:
        return None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def rule(self):
        """The first rule for this request that is not used up. It may say `status`, `headers`, `location`, `etag`,
        `cut` (close after so many bytes), `hold` (wait there until the file exists), `slow` (seconds for each 16 KiB),
        `flip` (another byte in the middle), `no_ranges`, `no_length`, `size` and `sha256` (what the hub says)."""
        with lock:
            try:
                with open(os.path.join(folder, "rules.json")) as file:
                    rules = json.load(file)
            except OSError:
                return {}
            for rule in rules:
                if rule["server"] != self.server.name or rule.get("path", "") not in self.path:
                    continue
                if rule.get("times", 1) == 0:
                    continue
                rule["times"] = rule.get("times", 1) - 1
                with open(os.path.join(folder, "rules.json"), "w") as file:
                    json.dump(rules, file)
                return rule
        return {}

    def do_GET(self):
        with lock, open(os.path.join(folder, "log"), "a") as file:
            entry = {name: self.headers.get(name) for name in ("Authorization", "Range", "If-Range")}
            file.write(json.dumps({"server": self.server.name, "path": self.path, **entry}) + "\n")
        self.now = self.rule()
        if "location" in self.now:
            return self.answer(self.now.get("status", 302), {"Location": self.now["location"]})
        if "status" in self.now:
            return self.answer(self.now["status"], self.now.get("headers", {}), b"no")
        path = urllib.parse.unquote(self.path.split("?")[0]).strip("/").split("/")
        if self.server.name == "cdn":
            return self.cdn(path)
        if path[0] == "plain":
            return self.plain(path)
        if path[:2] == ["api", "models"] and path[4:5] == ["revision"]:
            return self.api("/".join(path[2:4]))
        if path[2:3] == ["resolve"]:
            return self.resolve("/".join(path[:2]), path[3], "/".join(path[4:]))
        return self.answer(404, {}, b"no such page")

    def api(self, repository):
        files = files_of(repository)
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        private = secret(repository, ".private")
        if not files or (private is not None and private != token):
            return self.answer(404 if token else 401, {"X-Error-Code": "RepoNotFound"}, b'{"error": "not found"}')
        siblings = []
        for name, data in sorted(files.items()):
            entry = {"rfilename": name, "size": len(data)}
            if name.endswith(".gguf"):
                entry["lfs"] = {"sha256": digest(data), "size": len(data), "pointerSize": 130}
            siblings.append(entry)
        body = {"id": repository, "sha": commit_of(files), "tags": ["gguf", "license:mit"], "siblings": siblings}
        return self.answer(200, {"Content-Type": "application/json"}, json.dumps(body).encode())

    def resolve(self, repository, commit, name):
        files = files_of(repository)
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        gated = secret(repository, ".gated")
        if gated is not None and gated != token:
            return self.answer(403 if token else 401, {"X-Error-Code": "GatedRepo"}, b"restricted")
        if commit != commit_of(files):
            return self.answer(404, {"X-Error-Code": "RevisionNotFound"})
        if name not in files:
            return self.answer(404, {"X-Error-Code": "EntryNotFound"})
        sha256 = self.now.get("sha256", digest(files[name]))
        headers = {
            "Location": f"http://127.0.0.1:{ports['cdn']}/{repository}/{urllib.parse.quote(name)}?signature=private",
            "X-Repo-Commit": commit,
            "X-Linked-Size": str(self.now.get("size", len(files[name]))),
            "X-Linked-Etag": f'"{sha256}"',
        }
        return self.answer(302, headers, b"Found")

    def cdn(self, path):
        # As the real one, which takes its own signature and no other.
        if self.headers.get("Authorization"):
            return self.answer(400, {}, b"one authorization is enough")
        self.send(files_of("/".join(path[:2]))["/".join(path[2:])])

    def plain(self, path):
        try:
            with open(os.path.join(folder, *path), "rb") as file:
                self.send(file.read())
        except OSError:
            self.answer(404, {})

    def send(self, data):
        tag = self.now.get("etag", f'"{digest(data)[:32]}"')
        if self.now.get("flip"):
            data = data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :]
        wanted = self.headers.get("Range")
        same = self.headers.get("If-Range") in (None, tag)
        if wanted is None or not same or self.now.get("no_ranges"):
            return self.answer(200, {"ETag": tag, "Accept-Ranges": "bytes"}, data)
        begin = int(wanted.removeprefix("bytes=").rstrip("-"))
        if begin >= len(data):
            return self.answer(416, {"Content-Range": f"bytes */{len(data)}"})
        content_range = f"bytes {begin}-{len(data) - 1}/{len(data)}"
        return self.answer(206, {"ETag": tag, "Content-Range": content_range}, data[begin:])

    def answer(self, status, headers, body=b""):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if self.now.get("no_length"):
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.write(body)
        except OSError:
            pass  # the client is gone

    def write(self, body):
        cut = self.now.get("cut", len(body))
        hold = self.now.get("hold")
        for begin in range(0, min(cut, len(body)), 1 << 14):
            self.wfile.write(body[begin : min(begin + (1 << 14), cut)])
            self.wfile.flush()
            time.sleep(self.now.get("slow", 0))
        while hold and not os.path.exists(os.path.join(folder, hold)):
            time.sleep(0.01)
        if cut < len(body):
            self.close_connection = True


def main():
    for name in ("hub", "cdn"):
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        server.name = name
        ports[name] = server.server_address[1]
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print(ports["hub"], ports["cdn"], flush=True)
    sys.stdin.read()
    os._exit(0)


main()
