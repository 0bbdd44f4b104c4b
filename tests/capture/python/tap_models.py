# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Tiny random models of transformers, and a recorder of module outputs that shares nothing with moire_tap."""
import os
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
SKIPPED = 77

try:
    import torch
    import transformers
    from transformers import AutoConfig, AutoModelForCausalLM
except ImportError as error:
    print(f"skipped: {error}; these tests run where PyTorch and transformers are installed")
    sys.exit(SKIPPED)

torch.set_num_threads(1)
transformers.utils.logging.disable_progress_bar()
transformers.utils.logging.set_verbosity_error()

FAMILIES = ("llama", "olmoe", "qwen3_moe", "mixtral")
_SIZES = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=48,
              vocab_size=96, max_position_embeddings=128, bos_token_id=None, eos_token_id=None, pad_token_id=0,
              tie_word_embeddings=False)
_MORE = {
    "olmoe": dict(num_experts=4, num_experts_per_tok=2, intermediate_size=24),
    "qwen3_moe": dict(num_experts=4, num_experts_per_tok=2, moe_intermediate_size=24, head_dim=8, norm_topk_prob=True,
                      decoder_sparse_step=1, mlp_only_layers=[]),
    "mixtral": dict(num_local_experts=4, num_experts_per_tok=2, head_dim=8),
}


def tiny(family, dtype=torch.float32, seed=1, **settings):
    """A random model with weights large enough that every part matters."""
    config = AutoConfig.for_model(family, **{**_SIZES, **_MORE.get(family, {}), **settings})
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager", dtype=dtype,
                                             experts_implementation="eager")
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.copy_(torch.randn(parameter.shape) * 0.2)
    return model.eval()


def ids_of(count, seed=1, batch=1):
    return torch.randint(1, 96, (batch, count), generator=torch.Generator().manual_seed(seed))


class Witness:
    """Every module's first output tensor and every input of o_proj and down_proj, copied, by name."""

    def __init__(self, model):
        self.seen = {}
        self._handles = []
        for name, module in model.named_modules():
            if name and ".experts." not in name:
                self._handles.append(module.register_forward_hook(self._keeper(f"{name}.out")))
                if name.endswith(("o_proj", "down_proj")):
                    self._handles.append(module.register_forward_pre_hook(self._input_keeper(f"{name}.in")))

    def _keep(self, name, value):
        if name.endswith("rotary_emb.out"):
            self.seen.setdefault(name[:-3] + "cos", []).append(value[0].detach().clone())
            self.seen.setdefault(name[:-3] + "sin", []).append(value[1].detach().clone())
            return
        while not isinstance(value, torch.Tensor):
            value = value[0]
        self.seen.setdefault(name, []).append(value.detach().clone())

    def _keeper(self, name):
        return lambda module, args, output: self._keep(name, output)

    def _input_keeper(self, name):
        return lambda module, args: self._keep(name, args[0])

    def rows(self, name):
        """All rows of a tap of a run of one sample, as the capture's reader shows them."""
        tensor = torch.cat([t.reshape(-1, t.shape[-1]) if t.ndim < 4 else t.flatten(0, 1).flatten(1)
                            for t in self.seen[name]])
        return tensor.float().numpy() if tensor.dtype == torch.bfloat16 else tensor.numpy()

    def close(self):
        for handle in self._handles:
            handle.remove()
