# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Links that break, clients and daemons that are killed, disks that fill: a recorded run is whole and the same as a local
one, or it says which rows are missing. MOIRE_FULL=1 breaks a hundred links."""
import resource
import time
import unittest

from live_case import FULL, OPTIONS, LiveCase, kept_rows

from faulty_proxy import FaultyProxy

DISCONNECTS = 100 if FULL else 6
WAIT = ["--wait", "60"]


class Losses(LiveCase):
    sizes = {**LiveCase.sizes, "HIDDEN": 64, "LAYERS": 3}

    def run_name(self, daemon):
        """Of the newest run."""
        return self.client(daemon).runs()[-1]["run"]

    def wait_for_rows(self, daemon, rows):
        asking = self.client(daemon)
        self.wait_until("a run", lambda: asking.runs())
        self.wait_until("rows", lambda: asking.runs()[-1]["rows"] >= rows)
        run = asking.runs()[-1]["run"]
        asking.close()
        return run

    def test_disconnects(self):
        daemon = self.daemon()
        total = self.local().stat().st_size
        done = turns = 0
        while done < DISCONNECTS:
            self.assertLess(turns, DISCONNECTS)
            with FaultyProxy(daemon.ports, seed=turns, mean_bytes=total / 10, cuts=DISCONNECTS - done) as proxy:
                out = self.folder / f"out{turns}.moire"
                self.finished(self.recording(daemon.near, out, *self.new_run(), *WAIT))
                self.assert_same_capture(out, self.local())
                done += proxy.disconnects
            turns += 1
        self.assertTrue(daemon.alive)

    def test_cuts_at_random_moments(self):
        """All three links at once, in the middle of whatever it is."""
        daemon = self.daemon()
        with FaultyProxy(daemon.ports, seed=9, rate=4 << 20) as proxy:
            recorder = self.recording(daemon.near, self.folder / "out.moire", *self.new_run(), *WAIT)
            for _ in range(4):
                time.sleep(0.4)
                proxy.cut_all()
            self.finished(recorder)
        self.assert_same_capture(self.folder / "out.moire", self.local())

    def test_slow_client_makes_the_model_wait(self):
        """Without a spool and with little memory the model waits for a lossless client, and says for how long."""
        daemon = self.daemon("--hold-limit", 1 << 20, spool=False)
        size = self.local(new=400).stat().st_size
        with FaultyProxy(daemon.ports, rate=size / 4):
            out = self.folder / "out.moire"
            recorder = self.recording(daemon.near, out, *self.new_run(new=400))
            asking = self.client(daemon)
            self.wait_until("waiting", lambda: any(run["state"] == "waiting" for run in asking.runs()))
            self.assertLess(asking.status()["held"], 3 << 20)
            self.finished(recorder)
            self.assertGreater(asking.runs()[-1]["waited"], 0.2)
        self.assert_same_capture(out, self.local(new=400))

    def test_client_killed_and_restarted(self):
        daemon = self.daemon()
        out = self.folder / "out.moire"
        recorder = self.recording(daemon.address, out, *self.new_run())
        run = self.wait_for_rows(daemon, 20)
        recorder.kill()
        recorder.communicate()
        self.assertFalse(out.exists())
        self.finished(self.recording(daemon.address, out, "--attach", run))
        self.assert_same_capture(out, self.local())

    def test_daemon_killed_while_it_runs(self):
        """The run ends there; what was received stays, and the daemon has as much of it again."""
        daemon = self.daemon()
        out = self.folder / "out.moire"
        recorder = self.recording(daemon.address, out, *self.new_run(new=2000), *WAIT)
        run = self.wait_for_rows(daemon, 60)
        daemon.kill()
        daemon.start()
        _, said = recorder.communicate(timeout=120)
        self.assertEqual(recorder.returncode, 2)
        self.assertIn(run, said.decode())
        part = out.with_name("out.moire.part")
        self.assertGreaterEqual(kept_rows(part), 20)
        self.assertIn(f"rows from {kept_rows(part)} on", said.decode())
        state = self.client(daemon).run_state(run)
        self.assertEqual(state["state"], "lost")
        again = self.folder / "again.moire"
        recorder = self.recording(daemon.address, again, "--attach", run)
        recorder.communicate(timeout=60)
        self.assertEqual(recorder.returncode, 2)
        stored = again.with_name("again.moire.part")  # not there when the daemon had stored no row yet
        self.assertEqual(kept_rows(stored) if stored.exists() else 0, state["rows"])
        for made in filter(type(part).exists, (part, stored)):
            status, text = self.compare(self.local(new=2000), made, "--allow-missing")
            self.assertEqual(status, 0, text)
        self.finished(self.recording(daemon.address, self.folder / "next.moire", *self.new_run()))

    def test_daemon_killed_while_a_client_is_behind(self):
        daemon = self.daemon()
        with FaultyProxy(daemon.ports, rate=self.local().stat().st_size / 4):
            out = self.folder / "out.moire"
            recorder = self.recording(daemon.near, out, *self.new_run(), *WAIT)
            self.wait_for_rows(daemon, 10)
            asking = self.client(daemon)
            run = asking.runs()[-1]["run"]
            asking.wait_for(run, ["finished"])
            daemon.kill()
            daemon.start()
            self.finished(recorder)
        self.assert_same_capture(out, self.local())

    def test_stopped_daemon(self):
        """SIGTERM: it ends by itself, and a run under way says that it is incomplete."""
        daemon = self.daemon()
        out = self.folder / "out.moire"
        recorder = self.recording(daemon.address, out, *self.new_run(new=5000), "--wait", 1)
        self.wait_for_rows(daemon, 20)
        self.assertEqual(daemon.stop(), 0)
        _, said = recorder.communicate(timeout=60)
        self.assertEqual(recorder.returncode, 2, said)
        self.assertFalse(out.exists())
        self.assertGreater(kept_rows(out.with_name("out.moire.part")), 0)

    def assert_whole_or_said(self, recorder, out, new):
        """A whole recording that is equal, or a sentence about rows that are missing and all the others."""
        _, said = recorder.communicate(timeout=120)
        if recorder.returncode == 0:
            self.assert_same_capture(out, self.local(new=new))
            return
        self.assertEqual(recorder.returncode, 2)
        self.assertRegex(said.decode(), r"rows? [0-9]+")
        status, text = self.compare(self.local(new=new), out.with_name(out.name + ".part"), "--allow-missing")
        self.assertEqual(status, 0, text)

    def test_spool_limit(self):
        """A run that has no place in the spool goes on for a client that receives it."""
        new = 400
        size = self.local(new=new).stat().st_size
        daemon = self.daemon("--spool-limit", size // 3)
        out = self.folder / "out.moire"
        self.finished(self.recording(daemon.address, out, *self.new_run(new=new)))
        self.assert_same_capture(out, self.local(new=new))
        self.assertLessEqual(self.client(daemon).status()["spool"], size)

    def test_spool_and_memory_full(self):
        """Nobody receives it, and there is no place: rows are lost, and who asks later is told which."""
        new = 600
        size = self.local(new=new).stat().st_size
        daemon = self.daemon("--spool-limit", size // 4, "--hold-limit", 1 << 20)
        asking = self.client(daemon)
        run = asking.run(self.model.name, {**OPTIONS, "max-new": str(new)})["run"]
        asking.wait_for(run)
        out = self.folder / "out.moire"
        self.assert_whole_or_said(self.recording(daemon.address, out, "--attach", run), out, new)

    def test_disk_full(self):
        """The daemon's files cannot grow any more (as on a full disk)."""
        new = 400
        most = self.local(new=new).stat().st_size // 3
        daemon = self.daemon(start=False)
        daemon.start(restore_signals=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
        out = self.folder / "out.moire"
        self.assert_whole_or_said(self.recording(daemon.address, out, *self.new_run(new=new)), out, new)
        self.assertTrue(daemon.alive)
        self.finished(self.recording(daemon.address, self.folder / "next.moire", *self.new_run(new=20)))
        self.assert_same_capture(self.folder / "next.moire", self.local(new=20))

    def test_two_recorders_at_once(self):
        daemon = self.daemon()
        outs = [self.folder / f"out{n}.moire" for n in range(3)]
        recorders = [self.recording(daemon.address, outs[0], *self.new_run())]
        run = self.wait_for_rows(daemon, 5)
        recorders += [self.recording(daemon.address, out, "--attach", run) for out in outs[1:]]
        for recorder, out in zip(recorders, outs):
            self.finished(recorder)
            self.assert_same_capture(out, self.local())


if __name__ == "__main__":
    unittest.main()
