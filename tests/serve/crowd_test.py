#!/usr/bin/env python3
"""A crowd at the service: clients who ask as fast as they are answered, and rude ones.

    tests/serve/crowd_test.py --program METACTRL [--seconds N] [--clients N] [--rude N] [--seed S]

Each question was asked once before, of a service with nothing else to do. In the crowd it must get the same answer, or be told to come back (429);
nothing else, and nothing never. (Of the model that ships, whose arithmetic is that of a batch, another plan may come (docs/serve.md): it must be as
guaranteed, and /v1/validate must agree.) Rude clients send bytes that are no request, requests without an end, bodies that are larger than they say or never come,
leave in the middle of an answer, do not read what they asked for, and ask for what is too large. Afterwards the service must be empty: nothing
waits, it answers, and SIGTERM ends it with exit code 0. Its memory is looked at all the time: in the last third it may be 2 % and 16 MiB above that of the
second, which is what its cache may hold. What is printed at the end: answers and their times by kind, p50 and p99, and memory over time.
"""

import argparse
import collections
import http.client
import json
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time

LAMPS = """(define (domain lamps) (:predicates (lit ?l) (broken ?l) (near ?l ?m))
 (:action press :parameters (?l) :precondition (and (not (lit ?l)) (not (broken ?l))) :effect (lit ?l))
 (:action release :parameters (?l) :precondition (lit ?l) :effect (not (lit ?l))))"""


def lamps(count, broken=()):
    names = [f"lamp-{number}" for number in range(count)]
    facts = " ".join(f"(broken {names[number]})" for number in broken)
    goal = " ".join(f"(lit {name})" for name in names)
    return {"domain": LAMPS, "problem": f"(define (problem dark) (:domain lamps) (:objects {' '.join(names)}) (:init {facts}) (:goal (and {goal})))"}


def questions(models):
    """Kind, path, body: what is asked, and what of the answer is the same each time is what `essence` keeps."""
    drawn = models[1]
    shipped = ["dishwasher", "breakfast_table", "green_block", "stack_dishes", "boxed_tools"]
    asked = []
    for number, name in enumerate(shipped):
        for guidance in ("mask", "uniform"):
            body = {"domain": "tabletop", "problem": name, "guidance": guidance, "temperature": 0.8, "seed": number}
            asked.append(("plan", "/v1/plans", {**body, "model": drawn}))
            asked.append(("written", "/v1/plans", {**body, "model": models[0]}))
    for count in range(2, 12):
        asked.append(("plan", "/v1/plans", {**lamps(count), "model": drawn, "seed": count, "temperature": 1.0}))
        asked.append(("search", "/v1/plans", {**lamps(count), "guidance": "search"}))
        asked.append(("infeasible", "/v1/plans", {**lamps(count, [1])}))
        asked.append(("check", "/v1/check", lamps(count)))
        steps = "\n".join(f"(press lamp-{number})" for number in range(count))
        asked.append(("validate", "/v1/validate", {**lamps(count), "plan": steps}))
    for name in shipped[:3]:
        asked.append(("stream", "/v1/plans", {"model": drawn, "domain": "tabletop", "problem": name, "stream": True}))
        chat = {"model": drawn, "messages": [{"role": "user", "content": "Tidy up."}], "plan": {"domain": "tabletop", "problem": name}}
        asked.append(("chat", "/v1/chat/completions", chat))
    asked.append(("refused", "/v1/plans", {"domain": "(define", "problem": "dishwasher"}))
    asked.append(("refused", "/v1/plans", {"domain": "tabletop", "problem": "dishwasher", "guidence": "mask"}))
    return asked


def essence(kind, status, body):
    """What does not change from one time to the next."""
    if kind == "stream" and status == 200:
        events = [line[6:] for line in body.decode().splitlines() if line.startswith("data: ")]
        assert events and events[-1] == "[DONE]", f"a stream without an end: {body[-200:]!r}"
        last = json.loads(events[-2])
        assert last["type"] == "end", last
        return status, json.dumps([last.get(key) for key in ("outcome", "guarantee", "text", "plan")])
    answer = json.loads(body)
    if kind == "chat" and status == 200:
        return status, answer["choices"][0]["message"]["content"]
    if kind == "written" and status == 200:
        return status, json.dumps([answer[key] for key in ("outcome", "guarantee", "valid")])
    return status, json.dumps({key: answer.get(key) for key in ("outcome", "guarantee", "valid", "plan", "text", "error", "diagnostics", "problem")}, sort_keys=True)


class Service:
    def __init__(self, program, environment=None):
        # Room for fewer than come, so that some wait and some are told to come back.
        self.process = subprocess.Popen([program, "serve", "--port", "0", "--model", "pocket", "--model", "random:1", "--cache", "16M", "--max-requests", "16", "--max-waiting", "32"], env=environment, stderr=subprocess.PIPE, text=True)
        self.said = []
        for line in self.process.stderr:
            self.said.append(line)
            found = re.search(r"listening at http://([\d.]+):(\d+)", line)
            if found:
                self.host, self.port = found[1], int(found[2])
                break
        else:
            sys.exit(f"the service did not start: {''.join(self.said)}")
        threading.Thread(target=lambda: self.said.extend(self.process.stderr), daemon=True).start()

    def ask(self, path, body, connection=None):
        mine = connection or http.client.HTTPConnection(self.host, self.port, timeout=300)
        mine.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        response = mine.getresponse()
        found = response.status, response.read()
        if connection is None:
            mine.close()
        return found

    def connect(self):
        return socket.create_connection((self.host, self.port), timeout=30)

    def read(self, path):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        connection.request("GET", path)
        text = connection.getresponse().read().decode()
        connection.close()
        return text

    def models(self):
        return [model["id"] for model in json.loads(self.read("/v1/models"))["data"]]

    def resident_kib(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1])

    def metrics(self):
        return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in self.read("/metrics").splitlines() if line and line[0] != "#"}


class Crowd:
    def __init__(self, service, options):
        self.service, self.options = service, options
        self.questions = questions(service.models())
        self.expected = []
        self.until = 0
        self.lock = threading.Lock()
        self.times = collections.defaultdict(list)
        self.told_to_wait = 0
        self.wrong = []
        self.written = set()  # places in `questions`, and plans that the model that ships wrote for them
        self.rudeness = collections.Counter()

    def ask_in_peace(self):
        for kind, path, body in self.questions:
            status, answer = self.service.ask(path, body)
            assert status in (200, 400, 422), f"{kind}: {status} {answer[:300]!r}"
            assert (status == 200) == (kind != "refused"), f"{kind}: {status} {answer[:300]!r}"
            self.expected.append(essence(kind, status, answer))

    def goes_on(self):
        """Longer than it should on a slow machine, until there is an answer of every kind."""
        now = time.monotonic()
        with self.lock:
            return now < self.until or (now < self.until + 300 and {kind for kind, _, _ in self.questions} != set(self.times))

    def client(self, number):
        draw = random.Random(self.options.seed * 1000 + number)
        connection = None
        while self.goes_on() and len(self.wrong) < 20:
            if connection is None:
                connection = http.client.HTTPConnection(self.service.host, self.service.port, timeout=300)
            place = draw.randrange(len(self.questions))
            kind, path, body = self.questions[place]
            began = time.monotonic()
            try:
                status, answer = self.service.ask(path, body, connection)
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                connection = None
                # An idle connection may be closed while the next request is under way; the same question on a new one must be answered.
                try:
                    status, answer = self.service.ask(path, body)
                except (OSError, http.client.HTTPException) as again:
                    self.fault(f"{kind}: no answer: {error!r}, then {again!r}")
                    continue
            if status == 429 or (status == 503 and b"too_many_connections" in answer):
                with self.lock:
                    self.told_to_wait += 1
                time.sleep(draw.uniform(0.05, 0.3))
                continue
            took = time.monotonic() - began
            try:
                found = essence(kind, status, answer)
            except Exception as error:  # an answer that cannot be read is what this looks for
                self.fault(f"{kind}: {error!r} in {answer[:300]!r}")
                continue
            if found != self.expected[place]:
                self.fault(f"{kind}: {found} where alone it was {self.expected[place]}")
            with self.lock:
                self.times[kind].append(took)
                if kind == "written":
                    self.written.add((place, json.loads(answer)["text"]))

    def fault(self, text):
        with self.lock:
            self.wrong.append(text)

    def rude(self, number):
        draw = random.Random(self.options.seed * 1000 + 500 + number)
        ways = [self.garbage, self.trickle, self.liar, self.leaver, self.deaf, self.greedy, self.deep]
        while time.monotonic() < self.until:
            way = draw.choice(ways)
            try:
                way(draw)
            except OSError:
                pass  # thrown out, as it should be
            with self.lock:
                self.rudeness[way.__name__] += 1

    def post(self, body, length=None):
        head = f"POST /v1/plans HTTP/1.1\r\nHost: {self.service.host}:{self.service.port}\r\nContent-Type: application/json\r\n"
        return (head + f"Content-Length: {len(body) if length is None else length}\r\n\r\n").encode() + body

    def garbage(self, draw):
        with self.service.connect() as end:
            end.sendall(draw.randbytes(draw.randrange(1, 5000)))
            end.recv(1000)

    def trickle(self, draw):
        with self.service.connect() as end:
            for byte in self.post(b"{}")[: draw.randrange(1, 30)]:
                end.sendall(bytes([byte]))
                time.sleep(0.1)

    def liar(self, draw):
        with self.service.connect() as end:
            end.sendall(self.post(b'{"domain": "tabletop"', draw.choice([1000, 10**9, 10**18])))
            time.sleep(draw.uniform(0, 1))

    def leaver(self, draw):
        body = json.dumps({"domain": "tabletop", "problem": "dishwasher", "stream": True, "seed": draw.randrange(10**6), "temperature": 1}).encode()
        with self.service.connect() as end:
            end.sendall(self.post(body))
            time.sleep(draw.uniform(0, 0.3))
            end.recv(10)

    def deaf(self, draw):
        body = json.dumps({**lamps(11), "stream": True, "trace": True}).encode()
        with self.service.connect() as end:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            end.sendall(self.post(body) * 3)
            time.sleep(draw.uniform(0, 3))

    def greedy(self, draw):
        objects = " ".join(f"thing-{number}" for number in range(draw.randrange(100, 400)))
        domain = "(define (domain many) (:predicates (p ?a ?b ?c)) (:action all :parameters (?a ?b ?c ?d) :effect (p ?a ?b ?c)))"
        problem = f"(define (problem all) (:domain many) (:objects {objects}) (:init) (:goal (p thing-1 thing-2 thing-3)))"
        status, answer = self.service.ask("/v1/plans", {"domain": domain, "problem": problem, "max_states": draw.randrange(1, 1000)})
        if status not in (200, 400, 408, 413, 422, 429, 503):
            self.fault(f"too much was asked for: {status} {answer[:300]!r}")

    def deep(self, draw):
        with self.service.connect() as end:
            end.sendall(self.post(b'{"domain": ' + b"[" * draw.randrange(10, 100000)))
            end.recv(1000)

    def run(self):
        self.until = time.monotonic() + self.options.seconds
        people = [threading.Thread(target=self.client, args=(number,)) for number in range(self.options.clients)]
        people += [threading.Thread(target=self.rude, args=(number,)) for number in range(self.options.rude)]
        for person in people:
            person.start()
        memory = []
        while any(person.is_alive() for person in people):
            if self.service.process.poll() is not None:
                sys.exit(f"the service ended with {self.service.process.returncode}: {''.join(self.service.said)[-2000:]}")
            if time.monotonic() < self.until:
                memory.append(self.service.resident_kib())
            time.sleep(min(1.0, self.options.seconds / 60))
        return memory


def afterwards(service, crowd):
    """Nothing may be left of the crowd."""
    # Those who do not read are waited for ten seconds, and those who never finish a request as long.
    for _ in range(60):
        left = {name: value for name, value in service.metrics().items() if name in ("metactrl_requests_running", "metactrl_requests_waiting") and value > 0}
        if not left:
            break
        time.sleep(1)
    else:
        crowd.fault(f"still at work after a minute: {left}")
    for place, (kind, path, body) in enumerate(crowd.questions):
        status, answer = service.ask(path, body)
        if essence(kind, status, answer) != crowd.expected[place]:
            crowd.fault(f"{kind}, after the crowd had left: {status} {answer[:300]!r}")
    for place, text in sorted(crowd.written):
        body = crowd.questions[place][2]
        status, answer = service.ask("/v1/validate", {"domain": body["domain"], "problem": body["problem"], "plan": text})
        if status != 200 or not json.loads(answer)["valid"]:
            crowd.fault(f"a plan that was guaranteed is not valid: {text!r}: {status} {answer[:300]!r}")
    service.process.send_signal(signal.SIGTERM)
    try:
        code = service.process.wait(60)
    except subprocess.TimeoutExpired:
        crowd.fault("does not end within a minute of SIGTERM")
        service.process.kill()
    else:
        if code != 0:
            crowd.fault(f"ended with exit code {code}")


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--rude", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    service = Service(options.program)
    crowd = Crowd(service, options)
    try:
        crowd.ask_in_peace()
        memory = crowd.run()
        afterwards(service, crowd)
    finally:
        service.process.kill()
    answers = sum(len(times) for times in crowd.times.values())
    print(f"{answers} answers for {options.clients} clients in {options.seconds:.0f} s, {crowd.told_to_wait} told to come back; {sum(crowd.rudeness.values())} times rude: "
          + ", ".join(f"{way} {count}" for way, count in sorted(crowd.rudeness.items())))
    for kind, times in sorted(crowd.times.items()):
        print(f"  {kind:11}{len(times):8}   p50 {1000 * quantile(times, 0.5):8.1f} ms   p99 {1000 * quantile(times, 0.99):8.1f} ms")
    third = len(memory) // 3
    second, last = quantile(memory[third : 2 * third], 0.5), quantile(memory[2 * third :], 0.5)
    print(f"  memory: {memory[0] / 1024:.0f} MiB at first, {second / 1024:.0f} in the second third, {last / 1024:.0f} in the last, {max(memory) / 1024:.0f} at most")
    if last > 1.02 * second + 16384:
        crowd.fault("memory grows")
    missing = {kind for kind, _, _ in crowd.questions} - set(crowd.times)
    if missing:
        crowd.fault(f"never answered: {sorted(missing)}")
    for text in crowd.wrong[:20]:
        print("wrong:", text)
    sys.exit(1 if crowd.wrong else 0)


if __name__ == "__main__":
    main()
