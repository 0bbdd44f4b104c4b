# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""What transformers makes of the demo model: ids, 24 greedy tokens, experts and logits in fp32, one prompt a line.

    make_demo_expected.py > demo_model_expected.jsonl

By hand, when the model changes; needs torch 2.11 and transformers 5.24.
"""
import json
from pathlib import Path

import torch
import transformers

DEMO = Path(__file__).resolve().parents[3] / "resources/demo"
STEPS = 24


@torch.no_grad()
def expected(model, tokenizer, prompt):
    ids = tokenizer(prompt["text"]).input_ids
    generated, result = [], None
    for _ in range(STEPS):
        out = model(input_ids=torch.tensor([ids + generated]), use_cache=False, output_router_logits=True)
        result = result or out
        generated.append(int(out.logits[0, -1].argmax()))
    chosen = [logits.softmax(-1).topk(model.config.num_experts_per_tok).indices.tolist() for logits in result.router_logits]
    logits = [round(x, 5) for x in result.logits[0, -1, :16].tolist()]
    return {"id": prompt["id"], "ids": ids, "generated": generated, "text": tokenizer.decode(generated), "experts": chosen,
            "last_logits": logits}


def main():
    torch.set_num_threads(1)
    folder = DEMO / "austen-moe"
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager",
                                                              experts_implementation="eager")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    print(json.dumps({"origin": f"torch {torch.__version__}, transformers {transformers.__version__}, fp32, eager"}))
    for line in (DEMO / "moe_prompts.jsonl").read_text(encoding="utf-8").splitlines():
        print(json.dumps(expected(model, tokenizer, json.loads(line))))


if __name__ == "__main__":
    main()
