# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""What a run was made with, under the keys of FORMAT.md. A field that is not known is left out."""

import os
import re
import resource
import shlex
import sys
import time

import torch

from .digests import hex_text
from .dtypes import dtype_of
from .weights import weight_facts

# Weights up to this many elements are digested without being asked for: about two seconds on a processor.
_CHEAP_WEIGHTS = 100_000_000


def now_text():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def peak_bytes():
    """Largest resident size of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def describe_run(root, wanted_digest="auto"):
    """Environment fields of a torch model that is about to run."""
    fields = {**_model(root, wanted_digest), **_device(root), **_libraries(), **_numerics(root)}
    fields.update({"run.threads": torch.get_num_threads(), "run.log_probs": "raw", "run.training": root.training,
                   "run.command_line": shlex.join(sys.argv)})
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        fields["run.rank"] = torch.distributed.get_rank()
        fields["run.world_size"] = torch.distributed.get_world_size()
    return {key: value for key, value in fields.items() if value not in (None, "")}


def _model(root, wanted_digest):
    config = getattr(root, "config", None)
    name = str(getattr(config, "_name_or_path", "") or "").rstrip("/")
    text_config = config.get_text_config() if hasattr(config, "get_text_config") else config
    fields = {"model.name": os.path.basename(name) if os.path.isdir(name) else name or type(root).__name__,
              "model.architecture": type(root).__name__, "model.vocab_size": getattr(text_config, "vocab_size", None)}
    size = sum(parameter.numel() for parameter in root.parameters())
    if wanted_digest is True or (wanted_digest == "auto" and size <= _CHEAP_WEIGHTS):
        facts = weight_facts(root)
        if facts is not None:
            fields.update({"model.weight_digest": hex_text(facts.digest), "model.weight_values": hex_text(facts.values),
                           "model.weight_dtype": " and ".join(sorted(facts.dtypes))})
    return fields


def _processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return {}
    vendor = re.search(r"^vendor_id\s*:\s*(.+)$", text, re.M)
    model = re.search(r"^model name\s*:\s*(.+)$", text, re.M)
    names = {"AuthenticAMD": "AMD", "GenuineIntel": "Intel"}
    capability = torch.backends.cpu.get_cpu_capability()
    return {"device.vendor": vendor and names.get(vendor.group(1), vendor.group(1)), "device.name": model and model.group(1),
            "device.arch": capability if capability == "AVX2" else None}  # beyond it names differ from library to library


def _device(root):
    device = next(root.parameters(), torch.empty(0)).device
    if device.type != "cuda":
        return _processor() if device.type == "cpu" else {"device.name": str(device)}
    properties = torch.cuda.get_device_properties(device)
    if torch.version.hip:
        return {"device.vendor": "AMD", "device.name": properties.name, "device.arch": properties.gcnArchName.split(":")[0],
                "device.runtime": f"HIP {torch.version.hip}"}
    return {"device.vendor": "NVIDIA", "device.name": properties.name,
            "device.arch": f"sm_{properties.major}{properties.minor}", "device.runtime": f"CUDA {torch.version.cuda}"}


def _libraries():
    built = torch.__config__.show()
    mkl = re.search(r"(Intel\(R\).*Math Kernel Library.*)", built)
    fields = {"library.torch_version": torch.__version__.partition("+")[0],
              "library.blas": "MKL" if mkl else "OpenBLAS" if "BLAS_INFO=open" in built else None,
              "library.blas_version": mkl and mkl.group(1).strip(),
              "library.cpu_capability": torch.backends.cpu.get_cpu_capability()}
    if "transformers" in sys.modules:
        fields["library.transformers_version"] = sys.modules["transformers"].__version__
    return fields


def _numerics(root):
    kinds = {dtype_of(p.dtype).name for p in root.parameters() if p.is_floating_point()}
    config = getattr(root, "config", None)
    single = not (torch.distributed.is_available() and torch.distributed.is_initialized())
    fields = {"numerics.policy": kinds.pop() if len(kinds) == 1 else "mixed " + "+".join(sorted(kinds)) if kinds else None,
              "numerics.arithmetic": "native",
              "numerics.attention": getattr(config, "_attn_implementation", None),
              "numerics.experts": getattr(config, "_experts_implementation", None),
              "numerics.tf32": torch.backends.cuda.matmul.allow_tf32}
    if single:
        fields.update({"numerics.tp_size": 1, "numerics.reduction": "none"})
    if torch.cuda.is_available():
        fields["numerics.reduced_precision_reduction"] = bool(
            torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction)
    for kind in ("cpu", "cuda"):
        if torch.is_autocast_enabled(kind):
            fields["numerics.autocast"] = dtype_of(torch.get_autocast_dtype(kind)).name
    return fields
