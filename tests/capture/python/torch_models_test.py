# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""record(): what a torch model computed is what the capture holds, bit for bit, under the names of our own captures."""
import json
import signal
import subprocess
import sys
import unittest

import numpy as np
from tap_models import FAMILIES, Witness, ids_of, tiny, torch

from tap_case import CAPTURE, DIFF, SOURCE, Capture, TapCase

import moire_tap
from moire_tap.dtypes import bits_of
from moire_tap.summaries import summarise
from moire_tap.tensors import summarise_on_device

KILLED = """
import sys
sys.path[:0] = sys.argv[1:3]
from tap_models import tiny, ids_of, torch
import moire_tap
model = tiny("olmoe")
with moire_tap.record(model, sys.argv[3], flush_seconds=0), torch.no_grad():
    for n in range(10**6):
        model(ids_of(5, n))
        if n == 5:
            print("ready", flush=True)
"""


class OldMoe(torch.nn.Module):
    """A block as transformers 4 had them: a plain gate, experts in a list, the choice made inside."""

    def __init__(self):
        super().__init__()
        self.top_k, self.norm_topk_prob = 2, True
        self.gate = torch.nn.Linear(8, 4, bias=False)
        self.experts = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(4))

    def forward(self, x):
        flat = x.reshape(-1, 8)
        weights, ids = torch.topk(self.gate(flat).softmax(-1, dtype=torch.float32), 2, dim=-1)
        weights = weights / weights.sum(-1, keepdim=True)
        out = torch.stack([sum(w * self.experts[e](row) for w, e in zip(ws, es)) for row, ws, es in zip(flat, weights, ids)])
        self.last = ids, weights
        return out.reshape(x.shape)


class OldModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(16, 8)
        self.layers = torch.nn.ModuleList([torch.nn.ModuleDict({"mlp": OldMoe()})])
        self.lm_head = torch.nn.Linear(8, 16)

    def forward(self, input_ids):
        return self.lm_head(self.layers[0]["mlp"](self.embed(input_ids)))


class Models(TapCase):
    def record(self, model, name, run, **options):
        path = self.folder / f"{name}.moire"
        with moire_tap.record(model, path, **options):
            run()
        self.assert_sound(path)
        return Capture(path)

    def test_families_bit_for_bit(self):
        for family in FAMILIES:
            for dtype in (torch.float32, torch.bfloat16):
                with self.subTest(family=family, dtype=dtype):
                    self.check_family(family, dtype)

    def check_family(self, family, dtype):
        model, ids = tiny(family, dtype), ids_of(7)
        with torch.no_grad():
            witness = Witness(model)
            plain = model(ids).logits
            witness.close()
            kept = {}
            made = self.record(model, f"{family}.{dtype}", lambda: kept.update(out=model(ids).logits))
        self.assertTrue(torch.equal(plain, kept["out"]))  # recording changes nothing
        self.assertEqual(made.ids(0), ids[0].tolist())
        rotated = [name for name in made.names if "_rope" in name]
        self.assertEqual(len(rotated), 4)
        slots = [name for name in made.names if name.endswith(".slots")]
        self.assertEqual(len(slots), 0 if family == "llama" else 4)
        rotated += slots
        self.assertEqual(set(made.names) - set(rotated), set(witness.seen) - {"model.out"})
        for name in set(made.names) - set(rotated):
            self.assert_same_bits(made.values[name], witness.rows(name))
        self.assertEqual([name for name in made.names if name not in made.complete_inputs], [])
        self.assertEqual(made.inputs["model.layers.1.self_attn.o_proj.in"],
                         [f"model.layers.1.self_attn.{x}.out" for x in ("q_rope", "k_rope", "v_proj")])
        self.check_routing(model, made, ids)
        if slots:
            self.check_slots(model, made, dtype)

    def check_slots(self, model, made, dtype):
        """One token at a time, by the definition: what each chosen expert makes of it."""
        for layer, (experts, block) in enumerate((l.mlp.experts, f"model.layers.{n}.mlp") for n, l in enumerate(model.model.layers)):
            x = torch.from_numpy(made.values[f"model.layers.{layer}.post_attention_layernorm.out"])
            for row, chosen in enumerate(made.routing[f"{block}.gate"]["ids"]):
                up = torch.stack([experts.gate_up_proj[e].float() @ x[row] for e in chosen])
                gate, plain = up.chunk(2, dim=-1)
                down = torch.stack([experts.down_proj[e].float() @ h
                                    for e, h in zip(chosen, torch.nn.functional.silu(gate) * plain)])
                for part, expected in (("gate_up", up), ("down", down)):
                    found = torch.from_numpy(made.values[f"{block}.experts.{part}.slots"][row])
                    error = (found - expected.flatten()).norm() / expected.norm()
                    self.assertLess(float(error.detach()), 1e-5 if dtype == torch.float32 else 2e-2)

    def check_routing(self, model, made, ids):
        gates = [f"{name}.gate" for name, module in model.named_modules() if hasattr(module, "gate") and hasattr(module, "experts")]
        self.assertEqual(made.routers, gates)
        seen, handles = {}, []
        for gate in gates:
            keep = lambda module, args, out, gate=gate: seen.update({gate: out})
            handles.append(model.get_submodule(gate).register_forward_hook(keep))
        with torch.no_grad():
            model(ids)
        for handle in handles:
            handle.remove()
        for gate in gates:
            logits, weights, chosen = seen[gate]
            self.assertTrue((made.routing[gate]["ids"] == chosen.numpy()).all())
            self.assert_same_bits(made.routing[gate]["weights"], weights.float().numpy())
            self.assert_same_bits(made.routing[gate]["logits"], logits.float().numpy())

    def test_generate_with_a_cache(self):
        model, ids = tiny("olmoe"), ids_of(6)
        made = self.record(model, "g", lambda: model.generate(ids, max_new_tokens=5, do_sample=False))
        self.assertEqual(made.positions(0), list(range(10)))
        tokens = made.ids(0)
        self.assertEqual(len(tokens), 11)
        self.assertEqual(tokens, model.generate(ids, max_new_tokens=5, do_sample=False)[0].tolist())
        self.assertEqual([bool(t["response"]) for t in made.tokens[0]], [False] * 6 + [True] * 5)
        self.assertEqual(made.rows["phase"].tolist(), [0] * 6 + [1] * 4)
        self.assertEqual(made.rows["construction"].tolist(), [0] * 6 + [1] * 4)
        self.assertEqual(made.rows["step"].tolist(), [0] * 6 + [1, 2, 3, 4])
        self.assertEqual(made.rows["score_id"].tolist(), tokens[1:])
        self.assertEqual(made.rows["score_rank"].tolist()[5:], [0] * 5)  # greedy
        self.assertEqual(made.endings, {0: "length"})
        self.assertEqual((made.environment["run.replay"], made.environment["run.sampling"]), ("free", "greedy"))
        with torch.no_grad():
            logits = model(torch.tensor([tokens[:10]])).logits[0].numpy()
        self.assertTrue(np.allclose(made.values["lm_head.out"], logits, rtol=1e-4, atol=1e-4))
        self.assertIn("computed afterwards", made.events[0])

    def test_batches_padding_and_end_tokens(self):
        model = tiny("llama")
        ids = ids_of(6, batch=2)
        mask = torch.ones_like(ids)
        ids[0, :2], mask[0, :2] = 0, 0  # padded on the left
        free = model.generate(ids, attention_mask=mask, max_new_tokens=6, do_sample=False)
        end = int(free[0, 7])  # the first sample's second token
        made = self.record(model, "b", lambda: model.generate(ids, attention_mask=mask, max_new_tokens=6, do_sample=False,
                                                              eos_token_id=end, pad_token_id=0))
        first = [*ids[0, 2:].tolist(), *free[0, 6:8].tolist()]
        self.assertEqual(made.ids(0), first[: first.index(end, 4) + 1])
        self.assertEqual(made.positions(0), list(range(len(made.ids(0)) - 1)))
        self.assertEqual(made.ids(1)[:6], ids[1].tolist())
        self.assertEqual(made.positions(1), list(range(len(made.ids(1)) - 1)))
        self.assertEqual(made.endings[0], "end")
        right = ids_of(5, 3, batch=2)
        mask = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
        with torch.no_grad():
            made = self.record(model, "r", lambda: model(right, attention_mask=mask))
            alone = model(right[:1, :3]).logits[0].numpy()
        self.assertEqual((made.ids(0), made.ids(1)), (right[0, :3].tolist(), right[1].tolist()))
        self.assertEqual(made.rows["batch_slot"].tolist(), [0] * 3 + [1] * 5)
        self.assertTrue(np.allclose(made.values["lm_head.out"][:3], alone, rtol=1e-4, atol=1e-4))

    def test_packed_sequences(self):
        model, ids = tiny("llama"), ids_of(9)
        positions = torch.tensor([[0, 1, 2, 3, 0, 1, 0, 1, 2]])
        with torch.no_grad():
            made = self.record(model, "p", lambda: model(ids, position_ids=positions, use_cache=False))
        self.assertEqual([made.ids(s) for s in range(3)], [ids[0, :4].tolist(), ids[0, 4:6].tolist(), ids[0, 6:].tolist()])
        self.assertEqual(made.rows["position"].tolist(), positions[0].tolist())
        self.assertEqual([int(r["score_id"]) for r in made.rows][3], -1)

    def test_a_loop_with_a_cache_and_chunks(self):
        model, ids = tiny("llama"), ids_of(8)

        def loop():
            out = model(ids[:, :3], use_cache=True)
            out = model(ids[:, 3:6], cache=out.cache)
            for n in (6, 7):
                out = model(ids[:, n : n + 1], cache=out.cache)

        with torch.no_grad():
            made = self.record(model, "l", loop)
        self.assertEqual(made.samples, ["0"])
        self.assertEqual(made.positions(0), list(range(8)))
        self.assertEqual(made.rows["phase"].tolist(), [2] * 6 + [1] * 2)
        self.assertEqual(made.rows["score_id"].tolist(), [*ids[0, 1:].tolist(), -1])

    def test_names_rows_and_levels(self):
        model, ids = tiny("qwen3_moe"), ids_of(7)
        run = lambda: model(ids)
        with torch.no_grad():
            full = self.record(model, "full", run)
            some = self.record(model, "some", run, taps=["*.mlp.*", "*self_attn.q_proj.in", "!*.mlp.?*.*"], rows=3)
            digest = self.record(model, "digest", run, level="digest")
        self.assertEqual([n.split(".", 2)[2] for n in some.names], ["0.self_attn.q_proj.in", "0.mlp.out", "1.self_attn.q_proj.in",
                                                                   "1.mlp.out"])
        self.assertEqual(some.rows["position"].tolist(), [0, 3, 6])
        self.assert_same_bits(some.values["model.layers.1.mlp.out"], full.values["model.layers.1.mlp.out"][::3])
        self.assertEqual(some.routers, full.routers)
        self.assertTrue((digest.digests == full.digests).all())
        self.assertEqual(digest.values, {})

    def test_a_part_that_does_not_run_every_time(self):
        model = tiny("llama")
        path = self.folder / "v.moire"
        with torch.no_grad(), self.assertRaisesRegex(moire_tap.MoireError, "leave it out: taps="):
            with moire_tap.record(model, path):
                model(ids_of(4))
                model.model.layers[1].mlp.act_fn = torch.nn.Identity()
                model(ids_of(4))
        self.assert_sound(f"{path}.part")
        self.assertEqual(len(Capture(f"{path}.part", swmr=True).rows), 4)

    def test_named_samples_and_text(self):
        model, ids = tiny("llama"), ids_of(4, batch=2)
        vocabulary = [f" {n}" for n in range(96)]
        path = self.folder / "n.moire"
        with torch.no_grad(), moire_tap.record(model, path, tokenizer=vocabulary, environment={"run.seed": 3}) as recorder:
            recorder.next_samples(["first", "second"], response_from=[2, 3], category=["a", "b"])
            model(ids)
            recorder.event("warning", "said so")
        self.assert_sound(path)
        made = Capture(path)
        self.assertEqual(made.samples, ["first", "second"])
        self.assertEqual((made.positions(0), made.positions(1)), ([0, 1, 2], [0, 1, 2]))  # the last predicts nothing
        self.assertEqual([bool(t["response"]) for t in made.tokens[1]], [False, False, False, True])
        self.assertEqual((made.environment["run.seed"], made.events), (3, ["said so"]))

    def test_inference_mode_and_autocast(self):
        model, ids = tiny("llama"), ids_of(5)
        with torch.inference_mode():
            plain = self.record(model, "i", lambda: model(ids))
        self.assertEqual({int(tap["dtype"]) for tap in plain.taps}, {3})
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            mixed = self.record(model, "a", lambda: model(ids))
        kinds = {name: int(tap["dtype"]) for name, tap in zip(mixed.names, mixed.taps)}
        self.assertEqual((kinds["model.layers.0.self_attn.q_proj.out"], kinds["model.layers.0.input_layernorm.out"]), (1, 3))
        self.assertEqual(mixed.environment["numerics.autocast"], "bf16")

    def test_weights_in_another_dtype(self):
        narrow = tiny("llama").to(torch.bfloat16)
        facts = {}
        for name, model in (("bf16", narrow), ("fp32", tiny("llama").to(torch.bfloat16).float()), ("other", tiny("llama"))):
            with torch.no_grad():
                facts[name] = {key: value for key, value in self.record(model, f"weights_{name}", lambda: model(ids_of(4))).environment.items()
                               if key.startswith("model.weight_")}
        self.assertEqual([facts[name]["model.weight_dtype"] for name in ("bf16", "fp32")], ["bf16", "fp32"])
        self.assertNotEqual(facts["bf16"]["model.weight_digest"], facts["fp32"]["model.weight_digest"])
        self.assertEqual(facts["bf16"]["model.weight_values"], facts["fp32"]["model.weight_values"])
        self.assertEqual(facts["fp32"]["model.weight_values"], facts["fp32"]["model.weight_digest"])
        self.assertNotEqual(facts["other"]["model.weight_values"], facts["fp32"]["model.weight_values"])
        _, report = self.compare(self.folder / "weights_fp32.moire", self.folder / "weights_bf16.moire")
        self.assertIn("The weights have the same values and are stored as fp32 in the reference, bf16 in the target",
                      report["verdict"])
        self.assertNotIn("inputs", [finding["rule"] for finding in report["cause"]["findings"]])

    def test_a_gate_that_is_a_plain_layer(self):
        torch.manual_seed(1)
        model = OldModel()
        with torch.no_grad():
            made = self.record(model, "o", lambda: model(torch.tensor([[1, 2, 3]])))
        ids, weights = model.layers[0]["mlp"].last
        routing = made.routing["layers.0.mlp.gate"]
        self.assertTrue((routing["ids"] == ids.numpy()).all())
        self.assert_same_bits(routing["weights"], weights.numpy())

    def test_the_device_s_summary_is_the_host_s(self):
        rng = torch.Generator().manual_seed(1)
        for dtype in (torch.bfloat16, torch.float16, torch.float32, torch.float64):
            rows = torch.randn((5, 3000), generator=rng).to(dtype)
            rows[1, 7], rows[2, 5], rows[3] = torch.nan, torch.inf, torch.nan
            one, other = summarise(*bits_of(rows)), summarise_on_device(rows)
            self.assertTrue((one.digests == other.digests).all())
            self.assertTrue((one.counts == other.counts).all())
            for name in ("min", "max"):
                self.assert_same_bits(one.statistics[name], other.statistics[name])
            for name in ("mean", "l2"):
                self.assertTrue(np.allclose(one.statistics[name], other.statistics[name], equal_nan=True))

    def test_against_our_own_engine(self):
        if not CAPTURE.exists():
            self.skipTest("moire-capture is not built")
        ids = ids_of(9)
        (self.folder / "ids.json").write_text(json.dumps(ids[0].tolist()))
        for family in ("llama", "olmoe"):
            with self.subTest(family=family):
                model, folder = tiny(family), self.folder / family
                model.save_pretrained(folder)
                ours = self.folder / f"{family}_engine.moire"
                done = self.run_program(CAPTURE, "run", folder, "--ids", self.folder / "ids.json", "--policy", "fp32", "-o", ours)
                self.assertEqual(done.returncode, 0, done.stderr)
                with torch.no_grad():
                    theirs = self.record(model, family, lambda: model(ids))
                engine = Capture(ours)
                common = [name for name in engine.names if name in theirs.values]
                self.assertEqual(set(common), set(engine.names))
                self.assertEqual(set(theirs.names), set(engine.names))
                for name in common:
                    self.assertEqual(sorted(theirs.inputs[name]), sorted(engine.inputs[name]), name)
                for name in common:
                    one, other = engine.values[name].astype(np.float64), theirs.values[name].astype(np.float64)
                    self.assertLessEqual(np.linalg.norm(one - other), 1e-5 * np.linalg.norm(one), name)
                self.assertEqual(engine.environment["model.weight_digest"], theirs.environment["model.weight_digest"])
                report = self.compare(ours, self.folder / f"{family}.moire")[1]
                self.assertEqual(engine.rows["position"].tolist(), theirs.rows["position"].tolist())
                self.assertIsNone(report["first"].get("argmax"))


class Interrupted(TapCase):
    def hooks(self, model):
        return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules())

    def test_an_exception_midway(self):
        model, path = tiny("llama"), self.folder / "e.moire"
        fail = lambda *args: (_ for _ in ()).throw(RuntimeError("the model broke"))
        with self.assertRaisesRegex(RuntimeError, "broke"), torch.no_grad(), moire_tap.record(model, path):
            model(ids_of(4))
            handle = model.model.layers[1].mlp.register_forward_pre_hook(fail)
            model(ids_of(5))
        handle.remove()
        self.assertEqual(self.hooks(model), 0)
        self.assertNotIn("generate", vars(model))
        self.assert_sound(f"{path}.part")
        made = Capture(f"{path}.part", swmr=True)
        self.assertEqual((made.state, len(made.rows)), (0, 4))
        self.assertIn("the model broke", made.events[-1])
        self.assertIn("ended in an exception", made.events[0])
        self.assertFalse(path.exists())

    def test_a_pass_that_broke_is_left_out(self):
        model, path = tiny("llama"), self.folder / "c.moire"
        with torch.no_grad(), moire_tap.record(model, path):
            model(ids_of(4))
            with self.assertRaises(IndexError):
                model(torch.tensor([[95, 96]]))  # no such token
            model(ids_of(4, 2))
        self.assert_sound(path)
        made = Capture(path)
        self.assertEqual([len(made.positions(s)) for s in range(3)], [4, 0, 4])
        self.assertEqual(made.events, ["a forward pass ended in an exception; its rows are not recorded"])

    def test_kill(self):
        path = self.folder / "k.moire"
        here = SOURCE / "tests" / "capture" / "python"
        process = subprocess.Popen([sys.executable, "-B", "-c", KILLED, str(SOURCE / "capture" / "python"), str(here), str(path)],
                                   stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        self.assert_sound(f"{path}.part")
        self.assertIn("incomplete", self.run_program(DIFF, "info", f"{path}.part").stdout)
        self.assertGreaterEqual(len(Capture(f"{path}.part", swmr=True).rows), 20)

    def test_refusals_are_one_sentence(self):
        model = tiny("llama")
        record = lambda **options: moire_tap.record(model, self.folder / "x.moire", **options)
        for sentence, action in (
                ("no tap of this model matches 'nothing'", lambda: record(taps="nothing")),
                ("is no torch module", lambda: moire_tap.record("gpt2", self.folder / "x.moire")),
                ("no level", lambda: record(level="all").__enter__()),
        ):
            with self.assertRaisesRegex(moire_tap.MoireError, sentence):
                action()
        with self.assertRaisesRegex(moire_tap.MoireError, "nothing was recorded"), record():
            pass
        with self.assertRaisesRegex(moire_tap.MoireError, "beam search"), record():
            model.generate(ids_of(3), num_beams=2, max_new_tokens=2)
        self.assertEqual(self.hooks(model), 0)
        with moire_tap.record(model, self.folder / "off.moire", enabled=False), torch.no_grad():
            model(ids_of(3))
        self.assertEqual(list(self.folder.glob("off*")), [])


if __name__ == "__main__":
    unittest.main()
