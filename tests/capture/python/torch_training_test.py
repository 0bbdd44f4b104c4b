# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""record() where models are trained: gradients, recomputation, wrappers, several ranks; a trainer against a rollout."""
import os
import subprocess
import sys
import unittest

from tap_models import ids_of, tiny, torch

from tap_case import SOURCE, Capture, TapCase

import moire_tap

KINDS = ("fsdp", "fsdp2", "ddp")

# Two ranks, each with its own half of the batch; every kind of wrapper writes the same names.
RANKS = """
import os, sys
folder, rank, port = sys.argv[1], int(sys.argv[2]), sys.argv[3]
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, RANK=str(rank), WORLD_SIZE="2")
from tap_models import tiny, ids_of, torch
import moire_tap

def wrapped(kind):
    model = tiny("qwen3_moe").train()
    if kind == "ddp":
        return torch.nn.parallel.DistributedDataParallel(model)
    if kind == "fsdp":
        from torch.distributed.fsdp import FullyShardedDataParallel
        from torch.distributed.fsdp.wrap import ModuleWrapPolicy
        policy = ModuleWrapPolicy({type(model.model.layers[0])})
        return FullyShardedDataParallel(model, auto_wrap_policy=policy, device_id=torch.device("cpu"))
    from torch.distributed.fsdp import fully_shard
    for layer in model.model.layers:
        fully_shard(layer)
    return fully_shard(model)

torch.distributed.init_process_group("gloo", rank=rank, world_size=2)
ids = ids_of(6, batch=2)[rank : rank + 1]
for kind in sys.argv[4:]:
    model = wrapped(kind)
    try:
        moire_tap.record(model, f"{folder}/one.moire")
        raise SystemExit("two ranks may not write one file")
    except moire_tap.MoireError:
        pass
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with moire_tap.record(model, f"{folder}/{kind}.{{rank}}.moire"):
        for _ in range(2):
            model(input_ids=ids, labels=ids).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
torch.distributed.barrier()
torch.distributed.destroy_process_group()
"""


class Training(TapCase):
    def record(self, model, name, run, **options):
        path = self.folder / f"{name}.moire"
        with moire_tap.record(model, path, **options):
            run()
        self.assert_sound(path)
        return Capture(path)

    def gradients(self, model):
        return {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}

    def step(self, model, ids):
        model.zero_grad()
        model(input_ids=ids, labels=ids).loss.backward()
        return self.gradients(model)

    def assert_same_gradients(self, one, other):
        self.assertEqual(set(one), set(other))
        self.assertTrue(all(torch.equal(one[name], other[name]) for name in one))

    def test_recording_leaves_gradients_alone(self):
        model, ids = tiny("olmoe").train(), ids_of(6, batch=2)
        plain, kept = self.step(model, ids), {}
        self.record(model, "t", lambda: kept.update(self.step(model, ids)))
        self.assert_same_gradients(plain, kept)

    def test_recomputation_is_not_recorded_twice(self):
        model, ids = tiny("qwen3_moe").train(), ids_of(6)
        plain = self.record(model, "plain", lambda: self.step(model, ids))
        for reentrant in (False, True):
            with self.subTest(reentrant=reentrant):
                model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": reentrant})
                model.enable_input_require_grads()
                expected, kept = self.step(model, ids), {}
                made = self.record(model, f"c{reentrant}", lambda: kept.update(self.step(model, ids)))
                self.assert_same_gradients(expected, kept)
                self.assertEqual((made.names, len(made.rows)), (plain.names, 6))
                for name in plain.names:
                    self.assert_same_bits(made.values[name], plain.values[name])

    def test_a_trainer_against_a_rollout(self):
        model, prompt = tiny("olmoe"), ids_of(5, batch=2)
        rollout = self.folder / "rollout.moire"
        with moire_tap.record(model, rollout):
            whole = model.generate(prompt, max_new_tokens=6, do_sample=False)
        labels = whole.clone()
        labels[:, :5] = -100
        trainer = self.folder / "trainer.moire"
        model.train()
        with moire_tap.record(model, trainer):
            model(input_ids=whole, labels=labels).loss.backward()
        for path in (rollout, trainer):
            self.assert_sound(path)
        status, report = self.compare(rollout, trainer)
        one, other = Capture(rollout), Capture(trainer)
        self.assertEqual((one.ids(0), one.ids(1)), (other.ids(0), other.ids(1)))
        self.assertEqual((len(one.rows), one.names), (20, other.names))
        self.assertEqual(sorted(map(tuple, one.rows[["sample", "position", "score_id"]].tolist())),
                         sorted(map(tuple, other.rows[["sample", "position", "score_id"]].tolist())))
        alignment = report["alignment"]
        self.assertEqual({key: value for key, value in alignment.items() if "unmatched" in key.lower() and value}, {})
        self.assertEqual((one.environment["run.training"], other.environment["run.training"]), (False, True))

    def test_compiled_models_have_the_same_names(self):
        model, ids = tiny("llama"), ids_of(6)
        with torch.no_grad():
            plain = self.record(model, "plain", lambda: model(ids))
            compiled = torch.compile(model, backend="eager")
            compiled(ids)  # compiled before there are hooks
            made = self.record(compiled, "compiled", lambda: compiled(ids))
            inside = self.record(model, "inside", lambda: torch.compile(model, backend="eager")(ids))
            after = compiled(ids).logits
        for capture in (made, inside):
            self.assertEqual(capture.names, plain.names)
            for name in plain.names:
                self.assert_same_bits(capture.values[name], plain.values[name])
        self.assert_same_bits(after[0].numpy(), plain.values["lm_head.out"])

    def test_ranks(self):
        if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
            self.skipTest("this PyTorch has no gloo")
        model, ids = tiny("qwen3_moe").train(), ids_of(6, batch=2)
        alone = [self.record(model, f"alone{r}", lambda: model(ids[r : r + 1])) for r in range(2)]
        here = SOURCE / "tests" / "capture" / "python"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE / "capture" / "python"), str(here)])}
        port = str(20000 + os.getpid() % 20000)
        ranks = [subprocess.Popen([sys.executable, "-B", "-c", RANKS, str(self.folder), str(rank), port, *KINDS],
                                  env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                 for rank in range(2)]
        for process in ranks:
            output = process.communicate(timeout=900)[0]
            self.assertEqual(process.returncode, 0, output)
        for kind in KINDS:
            for rank in range(2):
                with self.subTest(kind=kind, rank=rank):
                    self.check_rank(self.folder / f"{kind}.{rank}.moire", rank, alone[rank])

    def check_rank(self, path, rank, alone):
        self.assert_sound(path)
        made = Capture(path)
        self.assertEqual((made.names, made.routers), (alone.names, alone.routers))
        self.assertEqual((made.environment["run.rank"], made.environment["run.world_size"]), (rank, 2))
        self.assertEqual(len(made.rows), 12)  # two steps
        for name in made.names:
            self.assert_same_bits(made.values[name][:6], alone.values[name])
        self.assertFalse((made.digests[:6] == made.digests[6:]).all())  # the weights have moved


if __name__ == "__main__":
    unittest.main()
