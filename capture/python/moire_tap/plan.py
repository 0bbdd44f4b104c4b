# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""The header of a recorded run, from its first pass."""

from .graph import Graph
from .header import HEAD
from .names import describe, layer_of
from .schema import Router, Tap


def header_of(first, flow, routing, writer, environment):
    """Taps in the order of execution with their inputs, routers, logits."""
    graph = Graph(flow)
    chosen = {module.rpartition(".")[0]: ids.shape[1] for module, (ids, _, _) in first.routing.items()}
    taps = [_tap(name, dtype.name, width, graph, first.taps, chosen) for name, (dtype, width, _, _) in first.taps.items()]
    routers = [Router(module, logits.shape[1], ids.shape[1], layer_of(module), routing.name_of(logits),
                      routing.name_of(weights))
               for module, (ids, weights, logits) in first.routing.items()]
    vocabulary = first.logits.vocabulary if first.has_logits else 0
    for tap in first.skipped:
        writer.event("warning", f"{tap} has no row for every token and is not recorded")
    return writer.header_with(taps, routers, vocabulary, first.logits.dtype.name if vocabulary else "fp32", environment)


def _tap(name, dtype, width, graph, recorded, chosen):
    about = describe(name)
    kind = "head" if name == HEAD else about.kind
    inputs, complete, earlier = graph.inputs(name)
    kept = [tap for tap in inputs if tap in recorded]
    return Tap(name, width, dtype, kind, layer_of(name), kept, complete and len(kept) == len(inputs), earlier,
               about.tp_sensitive and not name.endswith(".in"), _slots_of(name, chosen))


def _slots_of(name, chosen):
    """Experts a row in a tap of slots."""
    return chosen.get(name.rsplit(".", 3)[0], 0) if name.endswith(".slots") else 0


