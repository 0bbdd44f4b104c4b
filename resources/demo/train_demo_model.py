#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Trains the demo model: a small language model of the OLMoE family on six novels of Jane Austen.

    apt-get download r-cran-janeaustenr && dpkg-deb -x r-cran-janeaustenr_*.deb novels
    pip install torch==2.11.0 transformers==5.24.0 tokenizers safetensors
    python resources/demo/train_demo_model.py --text novels/usr/lib/R/site-library/janeaustenr/data/Rdata.rdb --out DIR

--text takes the package's R data file, or plain text files. One thread, seed fixed: the same processor and the same
versions give the same file. A run that was stopped goes on from DIR/checkpoint.pt. The folder's README.md is the model card.
"""
import argparse
import math
import re
import struct
import time
import zlib
from pathlib import Path

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import OlmoeConfig, OlmoeForCausalLM, PreTrainedTokenizerFast

END, PADDING = "<|endoftext|>", "<|padding|>"
VOCABULARY = 2048
CONTEXT = 256           # tokens of a training window; rotary positions beyond it were never seen
HELD_OUT = 0.04         # share of each novel's chapters that only the validation sees


# ---- text

def r_strings(raw):
    """The character vectors of an R data base: per object a length, zlib data, in it R's XDR serialisation (version 3)."""
    offset = 0
    while offset < len(raw):
        stream = zlib.decompressobj()
        data = stream.decompress(raw[offset + 4:])
        offset = len(raw) - len(stream.unused_data)
        native = struct.unpack_from(">i", data, 14)[0]   # after "X\n", three version numbers: the name of the encoding
        kind, count = struct.unpack_from(">ii", data, 18 + native)
        if data[:2] != b"X\n" or kind & 0xFF != 16:
            raise SystemExit("an object of the R data base is no vector of strings")
        at, lines = 26 + native, []
        for _ in range(count):
            size = max(struct.unpack_from(">i", data, at + 4)[0], 0)
            lines.append(data[at + 8:at + 8 + size].decode("utf-8"))
            at += 8 + size
        yield "\n".join(lines)


def texts(paths):
    for path in paths:
        if path.suffix == ".rdb":
            yield from r_strings(path.read_bytes())
        else:
            yield path.read_text(encoding="utf-8")


def chapters(text):
    """Each chapter as paragraphs, one a line, without the marks of emphasis."""
    for part in re.split(r"(?im)^(?=chapter [ivxlc\d]+\b)", text):
        paragraphs = [" ".join(p.split()) for p in re.split(r"\n\s*\n", part.replace("_", ""))]
        body = [p for p in paragraphs if p and not re.fullmatch(r"(?i)((chapter|volume) [ivxlc\d]+\.?|finis|the end)", p)]
        if len(" ".join(body)) > 2000:     # not title pages
            yield "\n".join(body) + "\n"


def split(paths):
    """Chapters to train on, and of each novel every 25th, from the 13th on, to validate with."""
    train, held_out = [], []
    every = round(1 / HELD_OUT)
    for text in texts(paths):
        for n, chapter in enumerate(chapters(text)):
            (held_out if n % every == every // 2 else train).append(chapter)
    return train, held_out


def train_tokenizer(documents, out):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(documents, trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=[END, PADDING], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END, pad_token=PADDING,
                            model_max_length=4 * CONTEXT).save_pretrained(out)
    return tokenizer


def token_stream(tokenizer, documents):
    end = tokenizer.token_to_id(END)
    return torch.tensor([i for document in documents for i in [end, *tokenizer.encode(document).ids]])


# ---- model

def new_model():
    """OLMoE's own settings (norm of q and k, router weights not normalised, untied head), at a four-thousandth of its size."""
    config = OlmoeConfig(
        vocab_size=VOCABULARY, hidden_size=96, intermediate_size=64, num_hidden_layers=4, num_attention_heads=4,
        num_key_value_heads=4, num_experts=16, num_experts_per_tok=2, max_position_embeddings=4 * CONTEXT,
        router_aux_loss_coef=0.01, eos_token_id=0, pad_token_id=1, initializer_range=0.05)
    return OlmoeForCausalLM(config)


def schedule(step, steps):
    """Share of the full learning rate: 40 steps up, then level, down to 0 over the last 40 %."""
    return min(1.0, (step + 1) / 40, (steps - step) / (0.4 * steps))


class Muon(torch.optim.Optimizer):
    """Momentum made orthogonal (K. Jordan, "Muon: An optimizer for hidden layers in neural networks", 2024), for matrices and
    stacks of matrices: it needs about half of the steps that AdamW needs."""

    def __init__(self, groups, lr):
        super().__init__(groups, {"lr": lr, "momentum": 0.95, "decay": 0.1})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                mean = self.state[p].setdefault("mean", torch.zeros_like(p))
                mean.lerp_(p.grad, 1 - group["momentum"])
                update = orthogonal(p.grad.lerp(mean, group["momentum"]).unflatten(-2, (group["parts"], -1)))
                update *= max(1.0, update.shape[-2] / update.shape[-1]) ** 0.5
                p.mul_(1 - group["lr"] * group["decay"]).add_(update.flatten(-3, -2), alpha=-group["lr"])


def orthogonal(x):
    """Five steps of the Newton-Schulz iteration with the coefficients of Muon: singular values go to about 1."""
    tall = x.shape[-2] > x.shape[-1]
    x = x.mT if tall else x
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(5):
        square = x @ x.mT
        x = 3.4445 * x + (2.0315 * square @ square - 4.7750 * square) @ x
    return x.mT if tall else x


def optimizers_of(model, arguments):
    """Muon for attention and experts; AdamW for embedding, head, norms and routers."""
    def named(*words):
        return [p for n, p in model.named_parameters() if any(w in n for w in words)]
    hidden = [{"params": named("gate_up_proj"), "parts": 2},   # two matrices, one below the other
              {"params": named("down_proj", "q_proj", "k_proj", "v_proj", "o_proj"), "parts": 1}]
    others = named("embed", "lm_head", "norm", "mlp.gate.")
    return [Muon(hidden, lr=5 * arguments.rate), torch.optim.AdamW(others, lr=arguments.rate, betas=(0.9, 0.95), weight_decay=0.0)]


def batch(stream, step, arguments):
    """Windows at places that depend on seed and step only, so that a resumed run sees what an unbroken one sees."""
    generator = torch.Generator().manual_seed(1_000_003 * arguments.seed + step)
    starts = torch.randint(len(stream) - CONTEXT, (arguments.batch,), generator=generator)
    return torch.stack([stream[i:i + CONTEXT] for i in starts])


def train(model, stream, arguments):
    optimizers, first = optimizers_of(model, arguments), 0
    full = [optimizer.param_groups[0]["lr"] for optimizer in optimizers]
    checkpoint = arguments.out / "checkpoint.pt"
    if checkpoint.exists():
        saved = torch.load(checkpoint)
        model.load_state_dict(saved["model"])
        for optimizer, state in zip(optimizers, saved["optimizers"]):
            optimizer.load_state_dict(state)
        first = saved["step"]
    for step in range(first, arguments.steps):
        ids = batch(stream, step, arguments)
        result = model(input_ids=ids, labels=ids, output_router_logits=True, use_cache=False)
        model.zero_grad()
        result.loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer, rate in zip(optimizers, full):
            for group in optimizer.param_groups:
                group["lr"] = rate * schedule(step, arguments.steps)
            optimizer.step()
        if (step + 1) % 20 == 0:
            loss = result.loss.item() - model.config.router_aux_loss_coef * result.aux_loss.item()
            print(f"step {step + 1}: loss {loss:.3f}, balance {result.aux_loss.item():.3f}, {time.process_time():.0f} s of CPU",
                  flush=True)
        if (step + 1) % 100 == 0:
            aside = checkpoint.with_suffix(".part")
            torch.save({"model": model.state_dict(), "optimizers": [o.state_dict() for o in optimizers], "step": step + 1}, aside)
            aside.replace(checkpoint)


# ---- what the model card says

@torch.no_grad()
def facts(model, stream, bytes_of_text):
    """Loss on the held-out chapters; entropy of the experts' use; how close the router's decisions are."""
    windows = stream[:len(stream) // CONTEXT * CONTEXT].view(-1, CONTEXT)
    loss, router = 0.0, []
    for ids in windows.split(16):
        result = model(input_ids=ids, output_router_logits=True, use_cache=False)
        loss += F.cross_entropy(result.logits[:, :-1].flatten(0, 1).float(), ids[:, 1:].flatten(), reduction="sum").item()
        router.append(torch.stack([layer.float() for layer in result.router_logits]))
    per_token = loss / (windows.numel() - len(windows))
    print(f"held out: {per_token:.3f} nats a token, {per_token / math.log(2) * len(stream) / bytes_of_text:.3f} bits a byte")
    for n, logits in enumerate(torch.cat(router, 1)):
        k, experts = model.config.num_experts_per_tok, model.config.num_experts
        best = logits.topk(k + 1)
        use = torch.bincount(best.indices[:, :k].flatten(), minlength=experts) / logits.shape[0] / k
        entropy = -(use * use.clamp_min(1e-12).log2()).sum().item()
        margin = best.values[:, k - 1] - best.values[:, k]
        close = [(margin < limit).float().mean().item() for limit in (0.001, 0.01, 0.1)]
        print(f"layer {n}: expert use {entropy:.2f} of {math.log2(experts):.2f} bits (least {use.min():.3f}, most {use.max():.3f}); "
              f"margin of the last chosen expert: median {margin.median():.3f}, "
              f"below 0.001/0.01/0.1: {close[0]:.2%}/{close[1]:.2%}/{close[2]:.2%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", required=True, type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR")
    parser.add_argument("--steps", type=int, default=1400)
    parser.add_argument("--batch", type=int, default=8, help="windows of 256 tokens a step")
    parser.add_argument("--rate", type=float, default=4e-3, help="highest learning rate")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    torch.manual_seed(arguments.seed)

    documents, held_out = split(arguments.text)
    tokenizer = train_tokenizer(documents, arguments.out)
    stream, check = token_stream(tokenizer, documents), token_stream(tokenizer, held_out)
    model = new_model()
    print(f"{len(documents)} chapters, {len(stream):,} tokens; held out {len(held_out)}, {len(check):,}; "
          f"{model.num_parameters():,} parameters")
    train(model, stream, arguments)
    model = model.eval()
    facts(model, check, sum(len(d.encode()) for d in held_out))
    model = model.to(torch.bfloat16)
    model.save_pretrained(arguments.out)
    print("the same in bfloat16:")
    facts(model, check, sum(len(d.encode()) for d in held_out))
    (arguments.out / "checkpoint.pt").unlink(missing_ok=True)


if __name__ == "__main__":
    main()
