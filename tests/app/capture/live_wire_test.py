# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""The daemon and a client that was written from PROTOCOL.md alone: list, run, receive, resume; the arrays are the file's."""
import random
import threading
import time
import unittest

from live_case import OPTIONS, LiveCase

from received_run import ReceivedRun, differences
from wire_client import Refused, encode


class Wire(LiveCase):
    def setUp(self):
        super().setUp()
        self.server = self.daemon()
        self.asking = self.client(self.server)

    def start(self, new=None, **more):
        return self.asking.run(self.model.name, {**OPTIONS, "max-new": str(new or self.new), **more})["run"]

    def refused(self, reason, ask):
        with self.assertRaises(Refused) as refused:
            ask()
        self.assertEqual(refused.exception.reason, reason, str(refused.exception))
        self.assertTrue(refused.exception.sentence)

    def test_lists_and_estimates(self):
        models = {model["name"]: model for model in self.asking.models()}
        self.assertEqual(models["model"]["problem"], "")
        self.assertIn("Olmoe", models["model"]["architecture"])
        taps = self.asking.taps("model")
        self.assertIn("lm_head.out", [tap["name"] for tap in taps])
        self.assertTrue(all(tap["width"] > 0 and tap["dtype"] for tap in taps))
        estimate = self.asking.estimate("model", {**OPTIONS, "max-new": "4"})
        self.assertEqual((estimate["samples"], estimate["taps"]), (1, len(taps)))
        run = self.start(4)
        received = ReceivedRun().take_all(self.asking.stream(run))
        self.asking.wait_for(run)  # its last message comes before the daemon has put it away
        self.assertLessEqual(received.row_count, estimate["rows"])
        status = self.asking.status()
        self.assertEqual((status["state"], status["clients"]), ("idle", 1))
        self.assertGreater(status["memory"], 1 << 20)

    def test_received_equals_the_file(self):
        run = self.start()
        stream = self.asking.stream(run, window=300_000)
        received = ReceivedRun().take_all(stream)
        self.assertIsNotNone(received.finish)
        self.assertEqual(differences(received, self.local()), [])
        state = self.asking.run_state(run)
        self.assertEqual((state["state"], state["messages"], state["rows"], state["spooled"]),
                         ("finished", received.sequence, received.row_count, True))
        chosen = ReceivedRun().take_all(self.asking.stream(run, values=[3, 5]))
        self.assertEqual(differences(chosen, self.local()), [])
        self.assertEqual(sorted(index for kind, index in chosen._parts if kind == "values"), [3, 5])
        self.assertEqual(differences(ReceivedRun().take_all(self.asking.stream(run, values=False)), self.local()), [])
        prompt = self.asking.prompts(run)[0]["tokens"]["ids"]
        self.assertEqual(prompt, [token[0] for token in received.tokens[0] if not token[1]])

    def test_other_inputs(self):
        prompts = b'{"id": "a", "text": "One"}\n{"id": "b", "text": "Two three"}\n'
        run = self.asking.run("model", {"policy": "bf16", "threads": "1", "max-new": "6", "level": "topk", "batch": "2"},
                              {"prompts": prompts})["run"]
        received = ReceivedRun().take_all(self.asking.stream(run))
        path = self.folder / "local.moire"
        self.capture("run", self.model, "--prompts", self.write("p.jsonl", prompts), "--policy", "bf16", "--threads", 1,
                     "--max-new", 6, "--level", "topk", "--batch", 2, "-o", path)
        self.assertEqual(differences(received, path), [])
        self.assertEqual([text["name"] for text in received.samples], ["a", "b"])

    def test_resumes(self):
        run = self.start()
        stream = self.asking.stream(run, window=200_000)
        received, dice = ReceivedRun(), random.Random(1)
        for message in stream:
            received.take(message)
            if dice.random() < 0.1:
                self.asking.reopen()
        self.assertGreater(stream.opened_times, 4)
        self.assertEqual(differences(received, self.local()), [])

    def test_published_holes_are_mended(self):
        first = self.start(30)  # so that the one that counts waits in the queue until there is a subscriber
        run = self.start()
        link = self.asking.subscribe(run)
        heard, dice, ended = {}, random.Random(3), False
        while not ended:
            message = self.asking.published(link, 10.0)
            self.assertIsNotNone(message)
            ended = message.type in ("finish", "broken")
            if ended or dice.random() < 0.7:
                heard[message.fields["seq"]] = message
        link.close()
        received, due = ReceivedRun(), 0
        total = max(heard) + 1
        self.assertLess(len(heard), total)
        while due < total:
            if due in heard:
                received.take(heard[due])
                due += 1
                continue
            end = min(n for n in heard if n > due)
            for message in self.asking.stream(run, from_=due, to=end):
                received.take(message)
            due = end
        self.assertEqual(differences(received, self.local()), [])
        self.asking.forget(first)
        self.refused("not-found", lambda: self.asking.run_state(first))

    def test_cancel_queue_and_tickets(self):
        long = self.start(3000)
        queued = self.asking.run("model", {**OPTIONS, "max-new": "2"}, ticket="t1")
        again = self.asking.run("model", {**OPTIONS, "max-new": "2"}, ticket="t1")
        self.assertEqual((queued["run"], queued["place"]), (again["run"], 1))
        self.assertEqual(self.asking.status()["queue"], [queued["run"]])
        self.refused("busy", lambda: self.asking.forget(long))
        self.asking.wait_for(long, ["running"])
        self.asking.cancel(long)
        begin = time.monotonic()
        state = self.asking.wait_for(long)
        self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual(state["state"], "cancelled")
        received = ReceivedRun().take_all(self.asking.stream(long))
        self.assertEqual(received.broken["state"], "cancelled")
        self.assertEqual(self.asking.wait_for(queued["run"])["state"], "finished")

    def test_feed(self):
        """A response that arrives piece by piece is scored as the file of the run that made it."""
        source = ReceivedRun().take_all(self.asking.stream(self.start(12)))
        response = [token[0] for token in source.tokens[0] if token[1]]
        begin, sample = source.begin, source.samples[0]

        def packed(fields):
            raw = encode(fields)
            return len(raw).to_bytes(4, "little") + raw + (0).to_bytes(4, "little")

        plain = {**begin, "vocabulary": 0}
        frame = packed(plain) + packed({**sample, "seq": 1})
        run = self.asking.run("model", {"policy": "fp32", "threads": "1", "max-new": "12", "replay-live": True,
                                        "construction": "steps"}, {"replay-from": frame})["run"]
        stream = self.asking.stream(run)

        def feed():
            other = self.client(self.server)
            for place in range(0, len(response), 5):
                other.feed(run, 0, response[place:place + 5], first=place)
                other.feed(run, 0, response[place:place + 5], first=place)  # again: passed over
                time.sleep(0.05)
            self.refused("invalid", lambda: other.feed(run, 0, [1], first=len(response) + 3))
            other.feed(run, 0, [], end=True, stop="length")

        thread = threading.Thread(target=feed)
        thread.start()
        scored = ReceivedRun().take_all(stream)
        thread.join()
        self.assertIsNotNone(scored.finish, scored.broken)
        self.assertEqual([token[0] for token in scored.tokens[0] if token[1]], response)
        self.assertTrue((scored.table("digests") == source.table("digests")).all())

    def test_refusals(self):
        for name in ("nobody", "../model", "/etc", "model/../../etc", ""):
            with self.assertRaises(Refused) as refused:
                self.asking.taps(name)
            self.assertIn(refused.exception.reason, ("not-found", "invalid"))
        self.refused("invalid", lambda: self.asking.run("model", {"max-new": "many", "text": "a"}))
        self.refused("invalid", lambda: self.asking.run("model", {"no-such-option": "1"}))
        self.refused("invalid", lambda: self.asking.run("model", {**OPTIONS, "output": "/tmp/x"}))
        self.refused("invalid", lambda: self.asking.run("model", {"prompts": {"file": 3}}))
        self.refused("invalid", lambda: self.asking.run("model", {"prompts": "/etc/passwd"}))
        self.refused("not-found", lambda: self.asking.run_state("x"))
        self.refused("not-found", lambda: next(iter(self.asking.stream("x"))))
        self.refused("unsupported", lambda: self.asking.request("make-coffee", "coffee"))
        self.refused("version", lambda: self.client(self.server, versions=[99]).hello())


if __name__ == "__main__":
    unittest.main()
