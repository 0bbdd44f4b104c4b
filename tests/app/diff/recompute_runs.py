# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""The rest of recompute.py: tokens, routing, layers, task and cost, and all of them together."""
import numpy as np

import recompute_tokens
from recompute import (LD, LogitsRow, align, classes, curve, element_measures, half_square_distance, keys,
                       logits_measures, mean_measure, ratio_curve, root_ratio, summary, ulps)


def routing_measures(ref, tgt, pairs):
    """H1 to H9 and H11, from the routers' logits, ids and weights."""
    if not ref.routers:
        return {}
    slots = []
    for router in ref.routers:
        module, k = router["module"], router["chosen"]
        for row, (_, position, a, b) in enumerate(pairs):
            slots.append({"row": row, "position": position, "layer": router["layer"], "k": k,
                          "experts": router["experts"],
                          "ids": [run.arrays[module + ".ids"][i] for run, i in ((ref, a), (tgt, b))],
                          "weights": [run.arrays[module + ".weights"][i].astype(LD) for run, i in ((ref, a), (tgt, b))],
                          "logits": [run.values[module + ".out"][i] for run, i in ((ref, a), (tgt, b))]})
    for s in slots:
        common = len(set(s["ids"][0]) & set(s["ids"][1]))
        s["replaced"], s["jaccard"] = s["k"] - common, LD(common) / (2 * s["k"] - common)
        s["ordered"] = list(s["ids"][0]) == list(s["ids"][1])
        d = s["logits"][1] - s["logits"][0]
        s["squares"] = (d * d).sum()
        gates = []
        for ids, weights in zip(s["ids"], s["weights"]):
            gate = np.zeros(s["experts"], LD)
            gate[ids] = weights
            gates.append(gate)
        s["gate"] = np.abs(gates[1] - gates[0]).sum()
        logs = [z - z.max() - np.log(np.exp(z - z.max()).sum()) for z in s["logits"]]
        s["kl"] = (np.exp(logs[0]) * (logs[0] - logs[1])).sum()
        best = np.sort(s["logits"][0])[::-1]
        s["margin"] = best[s["k"] - 1] - best[s["k"]]
        s["margin_ulps"] = ulps(best[s["k"] - 1], best[s["k"]], "fp32")
    n = len(slots)

    def by_layer(numerator, denominator=lambda s: 1):
        layers = sorted({s["layer"] for s in slots})
        return {str(layer): sum(numerator(s) for s in slots if s["layer"] == layer)
                / LD(sum(denominator(s) for s in slots if s["layer"] == layer)) for layer in layers}

    def mean(key):
        return sum(LD(s[key]) for s in slots) / n

    equal = [LD(100 * (s["replaced"] == 0)) for s in slots]
    out = {"H1": {"value": sum(equal) / n, "n": n, "parameters": {"ordered": 100 * mean("ordered")},
                  "by_layer": by_layer(lambda s: LD(100 * (s["replaced"] == 0))),
                  "by_position": curve([s["position"] for s in slots], equal, lambda g: sum(g) / len(g))},
           "H3": {"value": mean("replaced"), "n": n, "parameters": {"jaccard": mean("jaccard")},
                  "by_layer": by_layer(lambda s: LD(s["replaced"]))},
           "H6": {"value": sum(s["squares"] for s in slots) / sum(s["experts"] for s in slots),
                  "n": sum(s["experts"] for s in slots), "by_layer": by_layer(lambda s: s["squares"], lambda s: s["experts"])},
           "H7": {"value": mean("gate"), "n": n, "parameters": {"kl": mean("kl")}, "by_layer": by_layer(lambda s: s["gate"])},
           "H8": mean_measure(None, [s["margin"] for s in slots], False)}
    out["H8"]["by_layer"] = by_layer(lambda s: s["margin"])
    out["H8"]["parameters"] = {"exact_ties": sum(s["margin"] == 0 for s in slots)} | {
        f"within_{k}_ulp_percent": 100 * LD(sum(s["margin_ulps"] <= k for s in slots)) / n for k in (1, 2)}
    out.update(row_routes(pairs, slots))
    out.update(conditional_error(ref, tgt, pairs, slots))
    shifts = {}
    for router in ref.routers:
        mine = [s for s in slots if s["layer"] == router["layer"]]
        loads = [np.bincount(np.concatenate([s["ids"][side] for s in mine]), minlength=router["experts"]).astype(LD)
                 for side in (0, 1)]
        shifts[str(router["layer"])] = np.abs(loads[1] / loads[1].sum() - loads[0] / loads[0].sum()).sum() / 2
    out["H9"] = {"value": sum(shifts.values()) / len(shifts), "n": len(shifts), "by_layer": shifts}
    return out


def conditional_error(ref, tgt, pairs, slots):
    """H11."""
    head = "lm_head.out"
    if head not in ref.values or head not in tgt.values:
        return {}
    changed = {s["row"] for s in slots if s["replaced"]}
    kl, squares, elements = ([[], []] for _ in range(3))
    for row, (_, _, a, b) in enumerate(pairs):
        x = LogitsRow(ref.values[head][a], tgt.values[head][b])
        side = row in changed
        kl[side].append((np.exp(x.log_p) * (x.log_p - x.log_q)).sum())
        squares[side].append((x.d * x.d).sum())
        elements[side].append(int(x.finite.sum()))
    out = mean_measure(None, kl[1], False) or {"value": None, "n": 0}
    parameters = {"share_of_kl": sum(kl[1]) / (sum(kl[0]) + sum(kl[1])), "share_of_rows": LD(len(kl[1])) / len(pairs)}
    if kl[0]:
        parameters.update(equal_routes=sum(kl[0]) / len(kl[0]), mse_equal_routes=sum(squares[0]) / sum(elements[0]))
    if kl[1]:
        parameters["mse"] = sum(squares[1]) / sum(elements[1])
    out["parameters"] = parameters
    return {"H11": out}


def cache_drift(ref, tgt, pairs):
    """I5."""
    a, b, places = [p[2] for p in pairs], [p[3] for p in pairs], [p[1] for p in pairs]
    parts = {}
    for tap in ref.taps:
        kind = next((k for k in ("k", "v") if tap["name"].endswith(f".{k}_proj.out")), None)
        if kind and tap["name"] in tgt.values:
            r, t = ref.values[tap["name"]][a], tgt.values[tap["name"]][b]
            finite = np.isfinite(r) & np.isfinite(t)
            rf, tf = np.where(finite, r, 0), np.where(finite, t, 0)
            parts[kind, tap["layer"]] = ((tf - rf) ** 2).sum(1), (rf * rf).sum(1)
    if not parts:
        return {}
    def total(keep):
        chosen = [v for k, v in parts.items() if keep(k)]
        return sum(d for d, _ in chosen), sum(r for _, r in chosen)
    d, r = total(lambda k: True)
    def ratio(keep):
        x, y = total(keep)
        return root_ratio(x.sum(), y.sum())
    out = {"value": root_ratio(d.sum(), r.sum()), "n": len(pairs), "by_position": ratio_curve(places, d, r, root_ratio),
           "by_layer": {str(layer): ratio(lambda k: k[1] == layer) for _, layer in parts},
           "parameters": {name: ratio(lambda k: k[0] == kind) for name, kind in (("keys", "k"), ("values", "v"))
                          if any(k[0] == kind for k in parts)}}
    known = [(i, v) for i, v in enumerate(out["by_position"]) if v is not None]
    slope = recompute_tokens.theil_sen([i for i, _ in known], [v for _, v in known])
    if slope is not None:
        out["parameters"]["slope_per_token"] = slope
    out["by_layer"] = {k: v for k, v in out["by_layer"].items() if np.isfinite(v)}
    return {"I5": out}


def row_routes(pairs, slots):
    changed, first = [], []
    for row in range(len(pairs)):
        layers = [s["layer"] for s in slots if s["row"] == row and s["replaced"]]
        changed.append(LD(len(layers)))
        if layers:
            first.append(LD(min(layers)))
    out = {"H2": {"value": 100 * LD(sum(c == 0 for c in changed)) / len(pairs), "n": len(pairs)},
           "H4": mean_measure(None, changed, False), "H5": {"value": None, "n": 0}}
    if first:
        out["H5"] = mean_measure(None, first, False)
        out["H5"]["value"] = summary(first)["50"]
    return out


def layer_measures(ref, tgt, pairs):
    """I1 on residual, attention and MLP outputs; I3 from the residual's."""
    out = {}
    a, b = [p[2] for p in pairs], [p[3] for p in pairs]
    for kind, key in (("residual", "I1"), ("attention output", "I1[on=attention]"), ("mlp output", "I1[on=mlp]")):
        layers, all_r, all_t, ulp, equal, same = {}, [], [], 0, 0, True
        for tap in ref.taps:
            name = tap["name"]
            if tap["kind"] != kind or name not in tgt.values:
                continue
            r, t = ref.values[name][a], tgt.values[name][b]
            finite = np.isfinite(r) & np.isfinite(t)
            rf, tf = np.where(finite, r, 0), np.where(finite, t, 0)
            layers[tap["layer"]] = root_ratio(((tf - rf) ** 2).sum(), (rf * rf).sum())
            all_r.append(rf.ravel())
            all_t.append(tf.ravel())
            if ref.dtype[name] == tgt.dtype[name]:
                distance = np.abs(keys(ref.bits[name][a], ref.dtype[name]) - keys(tgt.bits[name][b], ref.dtype[name]))
                ulp = max(ulp, int(np.where(np.isnan(r) | np.isnan(t), 0, distance).max()))
                equal += int((ref.bits[name][a] == tgt.bits[name][b]).sum())
            else:
                same = False
        if not layers:
            continue
        r, t = np.concatenate(all_r), np.concatenate(all_t)
        parameters = {"max_abs": np.abs(t - r).max()}
        if np.isfinite(half_square_distance(r, t)):
            parameters["one_minus_cosine"] = half_square_distance(r, t)
        if same:
            parameters.update(equal_bits_percent=100 * LD(equal) / len(r), max_ulp=ulp)
        out[key] = {"value": root_ratio(((t - r) ** 2).sum(), (r * r).sum()), "n": len(layers) * len(pairs),
                    "parameters": parameters, "by_layer": {str(k): v for k, v in layers.items()}}
    if "I1" in out:
        out["I3"] = growth({int(k): v for k, v in out["I1"]["by_layer"].items()})
    return out


def growth(layers):
    differ = {k: v for k, v in layers.items() if v > 0}
    if len(differ) < 2:
        return {"value": None, "n": 0}
    x, y = np.array(list(differ), LD), np.log(np.array(list(differ.values()), LD))
    slope = ((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum()
    ordered = sorted(layers.items())
    jumps = {b[0]: b[1] / a[1] for a, b in zip(ordered, ordered[1:]) if a[1] > 0}
    largest = max(jumps, key=lambda k: jumps[k])
    return {"value": np.exp(slope), "n": len(differ), "by_layer": {str(k): v for k, v in jumps.items()},
            "parameters": {"largest_jump": jumps[largest], "largest_jump_layer": largest}}


def first_unequal(ref, tgt, pairs):
    """A8 and I2: the first site in sample order, position, tap order."""
    out = {"A8": {"value": None, "n": len(pairs)}, "I2": {"value": None, "n": len(pairs)}}
    for sample, position, a, b in pairs:
        for tap in ref.taps:
            name = tap["name"]
            if name not in tgt.values:
                continue
            if ref.dtype[name] == tgt.dtype[name]:
                equal = (ref.bits[name][a] == tgt.bits[name][b]).all()
            else:
                x, y = ref.values[name][a], tgt.values[name][b]
                equal = ((x == y) | (np.isnan(x) & np.isnan(y))).all()
            if equal:
                continue
            site = f"{sample}/{position}/{name}"
            if out["A8"]["value"] is None:
                out["A8"].update(value=position, at=site)
            if out["I2"]["value"] is None and tap["layer"] is not None:
                out["I2"].update(value=tap["layer"], at=site)
    return out


def cost_measures(ref, tgt):
    a, b = ref.info["environment"], tgt.info["environment"]
    return {"K1": {"value": LD(b["run.wall_seconds"]) / LD(a["run.wall_seconds"]), "n": 1,
                   "parameters": {"memory": LD(b["run.peak_bytes"]) / LD(a["run.peak_bytes"])}}}


def task_measures(answers):
    """J1 to J3 from [(category, label, reference's answer, target's answer)]."""
    if not answers:
        return {}
    n = LD(len(answers))
    right = [(a == label, b == label, a == b) for _, label, a, b in answers]
    groups = {}
    for (category, *_), flags in zip(answers, right):
        groups.setdefault(category, []).append(flags)
    before, after = (100 * LD(sum(r[i] for r in right)) / n for i in (0, 1))
    return {"J1": {"value": after, "n": len(answers), "parameters": {"reference": before, "difference": after - before},
                   "by_group": {g: 100 * LD(sum(r[1] for r in rs)) / len(rs) for g, rs in groups.items()}},
            "J2": {"value": 100 * LD(sum(r[2] for r in right)) / n, "n": len(answers),
                   "parameters": {"different": sum(not r[2] for r in right)}},
            "J3": {"value": sum(r[0] and not r[1] for r in right), "n": len(answers),
                   "parameters": {"wrong_to_correct": sum(r[1] and not r[0] for r in right),
                                  "wrong_to_other_wrong": sum(not any(r) for r in right)},
                   "by_group": {g: sum(r[0] and not r[1] for r in rs) for g, rs in groups.items()}}}


def recompute(ref, tgt, answers):
    """All measures; those of the taps; those of the samples."""
    pairs, _ = align(ref, tgt)
    common = [t["name"] for t in ref.taps if t["name"] in tgt.values]
    overall = element_measures(ref, tgt, "lm_head.out", pairs, True) if "lm_head.out" in common else {}
    overall.update(logits_measures(ref, tgt, pairs))
    overall.update(first_unequal(ref, tgt, pairs))
    overall.update(recompute_tokens.responses(ref, tgt, summary))
    split = overall.get("G2", {}).get("parameters", {}).get("kaplan_meier_median")
    if split is not None and "G10" in overall:
        overall["G10"]["parameters"]["observed_split"] = split
    overall.update(routing_measures(ref, tgt, pairs))
    overall.update(layer_measures(ref, tgt, pairs))
    overall.update(task_measures(answers))
    overall.update(cost_measures(ref, tgt))
    overall.update(cache_drift(ref, tgt, pairs))
    head = "lm_head.out"
    nonfinite = [int((~np.isfinite(run.values[head][[p[i] for p in pairs]])).sum()) if head in run.values else 0
                 for i, run in ((2, ref), (3, tgt))]
    overall.update(recompute_tokens.task_statistics(answers, nonfinite))
    if "L4" in overall:
        overall["L4"] = recompute_tokens.permutation(*overall["L4"]["tokens"])
    overall.update(recompute_tokens.change_point(overall.get("C1", {}).get("by_position", [])))
    shared = len([s for s in ref.samples if s in tgt.samples])
    overall["L1"] = {"value": 10_000, "n": shared, "parameters": {"seed": 20260820, "confidence_percent": 95}}
    overall["L5"] = {"value": 300 / LD(max(3, len(pairs))), "n": len(pairs), "parameters": {"samples": 300 / LD(max(3, shared))}}
    taps = {name: element_measures(ref, tgt, name, pairs, False) for name in common}
    samples = {}
    for sample in dict.fromkeys(p[0] for p in pairs):
        mine = [p for p in pairs if p[0] == sample]
        own = element_measures(ref, tgt, "lm_head.out", mine, False) if "lm_head.out" in common else {}
        own.update(logits_measures(ref, tgt, mine))
        own.update(routing_measures(ref, tgt, mine))
        samples[sample] = {k: {x: y for x, y in v.items() if x not in ("percentiles", "by_position")}
                           for k, v in own.items()}
    return overall, taps, samples
