# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""The measures of METRICS.md computed again, slowly, in 80-bit floats, from exported arrays.

Written after the code, from the formulas of METRICS.md, and sharing nothing with core/diff. Run.load() reads what
`moire-diff export` wrote; recompute() gives {id: {value, n, parameters, ...}} for two runs.
"""
import json
import subprocess
from pathlib import Path

import numpy as np

import recompute_rows
import recompute_tokens

LD = np.longdouble
SIZES = (1, 2, 5, 10, 20, 64)
PERCENTILES = {"0.1": .001, "1": .01, "5": .05, "10": .1, "25": .25, "50": .5, "75": .75, "90": .9,
               "95": .95, "99": .99, "99.9": .999}
FLOATS = {"bf16": (8, 7), "fp16": (5, 10), "fp32": (8, 23)}


class Run:
    """One capture as its exported arrays."""

    @staticmethod
    def load(program, capture, folder, prompts):
        run = Run()
        for raw in (False, True):
            where = Path(folder) / ("raw" if raw else "wide")
            subprocess.run([program, "export", capture, "--npy", where, "--quiet"] + ["--raw"] * raw,
                           check=True, stderr=subprocess.DEVNULL)
        arrays = {p.name[:-4]: np.load(p) for p in (Path(folder) / "wide").glob("*.npy")}
        bits = {p.name[:-4]: np.load(p) for p in (Path(folder) / "raw").glob("*.npy")}
        run.info = json.loads(subprocess.run([program, "info", capture, "--json"], check=True,
                                             capture_output=True).stdout)
        run.rows = json.loads((Path(folder) / "wide" / "rows.json").read_text())
        run.taps = [t for t in run.info["tap_list"] if t["name"] in arrays]
        run.values = {t["name"]: arrays[t["name"]].astype(LD) for t in run.taps}
        run.bits = {t["name"]: bits[t["name"]].view("<u4").astype(np.int64) if t["dtype"] == "fp32"
                    else bits[t["name"]].astype(np.int64) for t in run.taps}
        run.dtype = {t["name"]: t["dtype"] for t in run.taps}
        run.routers = run.info["router_list"]
        run.arrays = arrays
        run.samples = [s["id"] for s in run.info["sample_list"]]
        run.place = {(r["sample"], r["position"]): i for i, r in enumerate(run.rows)}
        run.tokens, run.prompt = {}, {}
        generated = list(arrays["gen.ids"])
        for sample in run.info["sample_list"]:
            prompt = prompts[sample["id"]]
            count = sample["tokens"] - len(prompt)
            run.tokens[sample["id"]] = prompt + [int(x) for x in generated[:count]]
            run.prompt[sample["id"]] = len(prompt)
            generated = generated[count:]
        assert not generated
        return run


def align(ref, tgt):
    """[(sample, position, row in ref, row in tgt)] and the split of each sample."""
    pairs, splits = [], {}
    for sample in ref.samples:
        if sample not in tgt.samples:
            continue
        a, b = ref.tokens[sample], tgt.tokens[sample]
        differ = [i for i, (x, y) in enumerate(zip(a, b)) if x != y]
        splits[sample] = differ[0] if differ else None
        for position in range(max(len(a), len(b))):
            if differ and position >= differ[0]:
                break
            if (sample, position) in ref.place and (sample, position) in tgt.place:
                pairs.append((sample, position, ref.place[sample, position], tgt.place[sample, position]))
    return pairs, splits


def keys(bits, dtype):
    """Sign-magnitude bits as monotone integers; NaN stays to be masked."""
    sign = 1 << sum(FLOATS[dtype])
    magnitude = bits & (sign - 1)
    return np.where(bits & sign, -magnitude, magnitude)


def classes(values, dtype):
    smallest = LD(2) ** (2 - 2 ** (FLOATS[dtype][0] - 1))
    out = np.where(np.abs(values) < smallest, 1, 0)
    out = np.where(values == 0, 2, out)
    out = np.where(values == np.inf, 3, out)
    out = np.where(values == -np.inf, 4, out)
    return np.where(np.isnan(values), 5, out)


def half_square_distance(r, t):
    """1 − cosine as ½‖r̂ − t̂‖²."""
    a, b = np.sqrt((r * r).sum()), np.sqrt((t * t).sum())
    if a == 0 or b == 0:
        return np.nan
    return ((r / a - t / b) ** 2).sum() / 2


def root_ratio(squares, reference):
    if squares == 0:
        return LD(0)
    return np.sqrt(squares / reference) if reference else LD(np.inf)


def summary(values):
    ordered = np.sort(np.array(values, LD))
    out = {"min": ordered[0], "max": ordered[-1]}
    for name, q in PERCENTILES.items():
        place = LD(q) * (len(ordered) - 1)
        low = min(int(place), len(ordered) - 1)
        high = min(low + 1, len(ordered) - 1)
        out[name] = ordered[low] + (place - low) * (ordered[high] - ordered[low])
    return out


def curve(positions, values, join):
    places = {}
    for position, value in zip(positions, values):
        places.setdefault(position, []).append(value)
    out = [join(places[i]) if i in places else None for i in range(max(places, default=-1) + 1)]
    return [None if v is None or not np.isfinite(v) else v for v in out]


def ratio_curve(positions, numerators, denominators, finish=lambda a, b: a / b):
    pairs = list(zip(numerators, denominators))
    return curve(positions, pairs, lambda g: finish(sum(x for x, _ in g), sum(y for _, y in g))
                 if sum(y for _, y in g) or finish is root_ratio else np.nan)


def mean_measure(positions, values, by_position=True):
    if len(values) == 0:
        return None
    out = {"value": sum(values) / len(values), "n": len(values), "percentiles": summary(values)}
    if by_position:
        out["by_position"] = curve(positions, values, lambda g: sum(g) / len(g))
    return out


def element_quantiles(sizes):
    """Over single elements: the ⌈q·n⌉-th smallest; the report is right to 1 % and knows none beyond fp32."""
    ordered = np.sort(np.asarray(sizes, LD))
    places = {q: max(int(np.ceil(PERCENTILES[q] * len(ordered))), 1) - 1 for q in ("50", "90", "95", "99", "99.9")}
    return {f"elements_{q}_percent": ordered[i] for q, i in places.items()
            if len(ordered) and ordered[i] < np.finfo(np.float32).max}


def element_measures(ref, tgt, tap, pairs, full):
    """A1, A3, A4, A6, A7, B1, B2, B4, B5 of one tap."""
    a, b = [p[2] for p in pairs], [p[3] for p in pairs]
    positions = [p[1] for p in pairs]
    r, t = ref.values[tap][a], tgt.values[tap][b]
    same_type = ref.dtype[tap] == tgt.dtype[tap]
    rb, tb = ref.bits[tap][a], tgt.bits[tap][b]
    out = {}
    classes_r, classes_t = classes(r, ref.dtype[tap]), classes(t, tgt.dtype[tap])
    if same_type:
        equal = (rb == tb).sum(1)
        out["A1"] = {"value": 100 * LD(equal.sum()) / r.size, "n": r.size}
        if full:
            out["A1"]["by_position"] = ratio_curve(positions, equal.astype(LD) * 100, [r.shape[1]] * len(r))
        out["A3"] = {"value": LD(1e6) * (r.size - equal.sum()) / r.size, "n": r.size}
        distance = np.abs(keys(rb, ref.dtype[tap]) - keys(tb, ref.dtype[tap]))
        distance = np.where(np.isnan(r) | np.isnan(t), 0, distance)
        known = int((~(np.isnan(r) | np.isnan(t))).sum())  # NaN has no distance
        out["A4"] = {"value": distance.max(), "n": known, "parameters": {"mean": LD(distance.sum()) / known},
                     "percentiles": summary(distance.max(1))}
        whole = equal == r.shape[1]
        out["A6"] = {"value": 100 * LD(whole.sum()) / len(r), "n": len(r)}
    matrix = np.zeros((6, 6), int)
    np.add.at(matrix, (classes_r, classes_t), 1)
    out["A7"] = {"value": matrix.sum() - np.trace(matrix), "n": r.size, "matrix": matrix.tolist()}
    finite = np.isfinite(r) & np.isfinite(t)
    count = int(finite.sum())
    rf, tf = np.where(finite, r, 0), np.where(finite, t, 0)
    d = tf - rf
    squares, rs = (d * d).sum(1), (rf * rf).sum(1)
    if count:
        mse = squares.sum() / count
        out["B1"] = {"value": mse, "n": count, "parameters": {"rmse": np.sqrt(mse)}}
        out["B2"] = {"value": np.abs(d).max(), "n": count, "parameters": {"mean": np.abs(d).sum() / count},
                     "percentiles": summary(np.abs(d).max(1))}
    relative = root_ratio(squares.sum(), rs.sum())
    if np.isfinite(relative):
        rows = [x for x in (root_ratio(q, s) for q, s in zip(squares, rs)) if np.isfinite(x)]
        out["B4"] = {"value": relative, "n": count, "percentiles": summary(rows)}
    cosine = half_square_distance(rf, tf)
    if np.isfinite(cosine):
        rows = [x for x in (half_square_distance(x, y) for x, y in zip(rf, tf)) if np.isfinite(x)]
        out["B5"] = {"value": cosine, "n": count, "percentiles": summary(rows)}
    if full:
        if "B2" in out:
            out["B2"]["parameters"].update(element_quantiles(np.abs(d[finite])))
        if "A4" in out:
            out["A4"]["parameters"].update(element_quantiles(distance[~(np.isnan(r) | np.isnan(t))]))
        if "B1" in out:
            out["B1"]["by_position"] = ratio_curve(positions, squares, finite.sum(1))
            out["B2"]["by_position"] = curve(positions, np.abs(d).max(1), max)
        if "B4" in out:
            out["B4"]["by_position"] = ratio_curve(positions, squares, rs, root_ratio)
    else:
        for measure in out.values():
            measure.pop("percentiles", None)
    return out


def order(logits):
    """Ids from best to worst: NaN after −Inf, equal values (so −0 and +0) by ascending id."""
    return sorted(range(len(logits)), key=lambda i: (bool(np.isnan(logits[i])),
                                                     0 if np.isnan(logits[i]) else -logits[i], i))


class LogitsRow:
    """Everything the families A2, A5, B3 to F7 want of one pair of rows."""

    def __init__(self, r, t):
        self.r, self.t = r, t
        self.finite = np.isfinite(r) & np.isfinite(t)
        self.d = np.where(self.finite, t - r, 0) if self.finite.any() else np.zeros_like(r)
        self.order_r, self.order_t = order(r), order(t)
        self.rank_t = {v: i for i, v in enumerate(self.order_t)}
        self.compared = self.finite.sum() >= 2
        if self.compared:
            self.log_p, self.lse_r = self.normalised(r)
            self.log_q, self.lse_t = self.normalised(t)

    def normalised(self, z):
        z = z[self.finite]
        lse = z.max() + np.log(np.exp(z - z.max()).sum())
        return z - lse, lse

    def mass(self, z, lse, ids):
        if not self.compared or not all(np.isfinite(z[i]) for i in ids):
            return None
        return sum(np.exp(z[i] - lse) for i in ids)


def difference(a, b):
    with np.errstate(invalid="ignore"):
        return a - b if np.isfinite(a) and np.isfinite(b) else None


def ulps(a, b, dtype):
    if np.isnan(a) or np.isnan(b):
        return None
    def key(x):
        if dtype == "bf16":
            bits = int(np.array([x], np.float32).view(np.uint32)[0]) >> 16
        elif dtype == "fp16":
            bits = int(np.array([x], np.float16).view(np.uint16)[0])
        else:
            bits = int(np.array([x], np.float32).view(np.uint32)[0])
        return int(keys(np.array([bits]), dtype)[0])
    return abs(key(a) - key(b))


def to_bf16(values):
    """Round to nearest even; the bits. NaN keeps its sign and becomes quiet."""
    bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    nan = ((bits >> 16) & 0x8000) | 0x7FC0 | ((bits >> 16) & 0x7F)
    return np.where(np.isnan(values), nan, rounded).astype(np.uint64)


def logits_measures(ref, tgt, pairs):
    """A2, A5, B3, B6 to B9, C, D, E, F, G7 over lm_head.out."""
    head = "lm_head.out"
    if head not in ref.values or head not in tgt.values:
        return {}
    a, b = [p[2] for p in pairs], [p[3] for p in pairs]
    rows = [LogitsRow(x, y) for x, y in zip(ref.values[head][a], tgt.values[head][b])]
    positions = [p[1] for p in pairs]
    vocabulary = ref.values[head].shape[1]
    dtype, other = ref.dtype[head], tgt.dtype[head]
    out = {}
    rounded = [(to_bf16(x.r) == to_bf16(x.t)).sum() for x in rows]
    out["A2"] = {"value": 100 * LD(sum(rounded)) / (vocabulary * len(rows)), "n": vocabulary * len(rows)}
    finite = sum(int(x.finite.sum()) for x in rows)
    if dtype == other and finite:
        mantissa = FLOATS[dtype][1]
        matched = distance = 0
        for x, rb, tb in zip(rows, ref.bits[head][a], tgt.bits[head][b]):
            same = (rb >> mantissa == tb >> mantissa) & x.finite
            matched += int(same.sum())
            distance += int(np.abs(rb - tb)[same].sum())
        out["A5"] = {"value": 100 * LD(finite - matched) / finite, "n": finite,
                     "parameters": {"mantissa": LD(distance) / matched} if matched else {}}
    compared = [(p, x) for p, x in zip(positions, rows) if x.compared]
    if compared:
        where = [p for p, _ in compared]
        live = [x for _, x in compared]
        out.update(distribution(where, live, rows))
        relative = [(np.abs(x.d) / (np.abs(x.r) + LD(1e-8)))[x.finite].max() for x in live]
        out["B3"] = {"value": max(relative), "n": len(live), "percentiles": summary(relative)}
        counts = [int(x.finite.sum()) for x in live]
        sums = [x.d.sum() for x in live]
        out["B6"] = {"value": sum(sums) / sum(counts), "n": sum(counts),
                     "by_position": ratio_curve(where, sums, counts)}
        centred = [((x.d[x.finite] - s / c) ** 2).sum() for x, s, c in zip(live, sums, counts)]
        out["B7"] = {"value": sum(centred) / sum(counts), "n": sum(counts)}
    direction = [difference(difference(x.t[x.order_r[1]], x.r[x.order_r[1]]) or 0,
                            difference(x.t[x.order_r[0]], x.r[x.order_r[0]]) or 0)
                 for x in rows if all(np.isfinite(z[i]) for z in (x.r, x.t) for i in x.order_r[:2])]
    if direction:
        out["B9"] = mean_measure(None, direction, False)
        out["B9"]["parameters"] = {"mean_abs": sum(map(abs, direction)) / len(direction),
                                   "abs_99_percent": summary(list(map(abs, direction)))["99"]}
    out.update(recompute_rows.spread(rows, mean_measure))
    out.update(recompute_rows.distances(rows, mean_measure, summary))
    out.update(recompute_rows.rankings(ref, tgt, pairs, rows, mean_measure))
    out.update(recompute_rows.crowd(rows, mean_measure))
    out.update(recompute_rows.flip_prediction(rows, direction))
    out.update(chosen_measures(ref, tgt, pairs, rows))
    out.update(top_measures(positions, rows, vocabulary))
    out.update(margin_measures(ref, tgt, pairs, rows, dtype))
    return out


def distribution(where, live, rows):
    p = [np.exp(x.log_p) for x in live]
    q = [np.exp(x.log_q) for x in live]
    out = {"C1": mean_measure(where, [(a * (x.log_p - x.log_q)).sum() for a, x in zip(p, live)]),
           "C2": mean_measure(where, [(b * (x.log_q - x.log_p)).sum() for b, x in zip(q, live)]),
           "C4": mean_measure(where, [np.abs(a - b).sum() / 2 for a, b in zip(p, q)]),
           "C9": mean_measure(where, [(a * x.log_p).sum() - (b * x.log_q).sum()
                                      for a, b, x in zip(p, q, live)])}
    counts = [len(a) for a in p]
    out["C7"] = {"value": sum(((b - a) ** 2).sum() for a, b in zip(p, q)) / sum(counts), "n": sum(counts)}
    largest = [np.abs(b - a).max() for a, b in zip(p, q)]
    out["C8"] = {"value": max(largest), "n": len(live), "percentiles": summary(largest),
                 "by_position": curve(where, largest, max)}
    excluded = sum(int((~x.finite).sum()) for x in rows)
    if excluded:
        for measure in out.values():
            measure["parameters"] = {"elements_not_finite": excluded,
                                     "rows_not_finite": len(rows) - len(live)}
    out["B8"] = mean_measure(where, [(a * (x.d[x.finite] - (a * x.d[x.finite]).sum()) ** 2).sum()
                                     for a, x in zip(p, live)])
    return out


def log_prob(z, token):
    """As a row's score has it: over the side's own logits without NaN."""
    if not np.isfinite(z[token]) or np.isposinf(z).any():
        return None
    rest = z[~np.isnan(z)]
    return z[token] - rest.max() - np.log(np.exp(rest - rest.max()).sum())


def chosen_measures(ref, tgt, pairs, rows):
    deltas, changes, where, owners, logs = [], [], [], [], []
    for (sample, position, _, _), x in zip(pairs, rows):
        a, b = ref.tokens[sample], tgt.tokens[sample]
        if position + 1 >= len(a) or position + 1 >= len(b) or a[position + 1] != b[position + 1]:
            continue
        token = a[position + 1]
        ours, theirs = log_prob(x.r, token), log_prob(x.t, token)
        if ours is None or theirs is None:
            continue
        deltas.append(theirs - ours)
        changes.append(np.exp(theirs) - np.exp(ours))
        where.append(position)
        owners.append(sample)
        logs.append((ours, theirs))
    if not deltas:
        return {}
    n = len(deltas)
    first = mean_measure(where, deltas)
    mean = first["value"]
    sequences = [np.mean([d for d, o in zip(deltas, owners) if o == s]) for s in dict.fromkeys(owners)]
    parameters = {"mean_abs": sum(map(abs, deltas)) / n, "max": max(deltas), "min": min(deltas),
                  "sequence_mean": sum(sequences) / len(sequences)}
    if n > 1:
        parameters["std"] = np.sqrt(sum((d - mean) ** 2 for d in deltas) / (n - 1))
    probability = mean_measure(where, changes, False)
    probability["parameters"] = {"mean_abs": sum(map(abs, changes)) / n,
                                 "rms": np.sqrt(sum(c * c for c in changes) / n)}
    return {"D1": first, "D2": {"value": mean, "n": n, "parameters": parameters}, "D4": probability,
            **recompute_tokens.chosen(deltas, *map(list, zip(*logs)), where, owners, mean_measure, summary)}


def top_measures(positions, rows, vocabulary):
    out = {}
    n = len(rows)
    agree = [x.order_r[0] == x.order_t[0] for x in rows]
    out["E1"] = {"value": 100 * LD(sum(agree)) / n, "n": n,
                 "by_position": ratio_curve(positions, [LD(100 * s) for s in agree], [1] * n)}
    out["G7"] = out["E1"]
    flips = n - sum(agree)
    out["G10"] = {"value": LD(flips) / n, "n": n, "parameters": {"expected_split": LD(n) / flips} if flips else {}}
    for k in SIZES:
        if k > vocabulary:
            continue
        tail = "" if k == 5 else f"[k={k}]"
        common = [len(set(x.order_r[:k]) & set(x.order_t[:k])) for x in rows]
        out["E2" + tail] = {"value": 100 * LD(sum(x.order_r[:k] == x.order_t[:k] for x in rows)) / n, "n": n}
        out["E3" + tail] = {"value": 100 * LD(sum(c == k for c in common)) / n, "n": n}
        overlap = [LD(c) / k for c in common]
        out["E4" + tail] = {"value": sum(overlap) / n, "n": n,
                            "parameters": {"jaccard": sum(LD(c) / (2 * k - c) for c in common) / n},
                            "by_position": curve(positions, overlap, lambda g: sum(g) / len(g))}
        ours = [(p, x.mass(x.r, getattr(x, "lse_r", None), x.order_r[:k])) for p, x in zip(positions, rows)]
        theirs = [x.mass(x.t, getattr(x, "lse_t", None), x.order_r[:k]) for x in rows]
        known = [(p, m) for p, m in ours if m is not None]
        other = [m for m in theirs if m is not None]
        if known:
            out["E9" + tail] = mean_measure([p for p, _ in known], [m for _, m in known])
            if len(other) == len(known):
                out["E9" + tail]["parameters"] = {"target": sum(other) / len(other)}
    ranks = [LD(x.rank_t[x.order_r[0]]) for x in rows]
    out["E6"] = mean_measure(None, ranks, False)
    out["E6"]["parameters"] = {"largest_shift_in_top_5": max(abs(x.rank_t[v] - j) for x in rows
                                                             for j, v in enumerate(x.order_r[:5]))}
    return out


def margin_measures(ref, tgt, pairs, rows, dtype):
    out = {}
    head = "lm_head.out"
    ours, theirs, our_ulps, their_ulps = [], [], [], []
    for x in rows:
        margin = difference(x.r[x.order_r[0]], x.r[x.order_r[1]])
        if margin is None:
            continue
        ours.append(margin)
        our_ulps.append(ulps(x.r[x.order_r[0]], x.r[x.order_r[1]], dtype))
        other = difference(x.t[x.order_t[0]], x.t[x.order_t[1]])
        if other is not None:
            theirs.append(other)
            their_ulps.append(ulps(x.t[x.order_t[0]], x.t[x.order_t[1]], tgt.dtype[head]))
    if ours:
        out["F1"] = mean_measure(None, ours, False)
        out["F1"]["parameters"] = {"median_ulps": np.median(our_ulps)}
        if theirs:
            out["F1"]["parameters"].update(target=sum(theirs) / len(theirs),
                                           target_median_ulps=np.median(their_ulps))
    out["F4"] = flips(rows, dtype)
    claimed, emitted, target_emitted = [], [], []
    for (sample, position, _, _), x in zip(pairs, rows):
        for run, side, best in ((ref, emitted, x.order_r[0]), (tgt, target_emitted, x.order_t[0])):
            if run.prompt[sample] <= position + 1 < len(run.tokens[sample]):
                side.append(run.tokens[sample][position + 1] == best)
        if ref.prompt[sample] <= position + 1 < len(ref.tokens[sample]):
            gap = difference(x.t[x.order_t[0]], x.t[ref.tokens[sample][position + 1]])
            if gap is not None:
                claimed.append(gap)
    if claimed:
        out["F7"] = mean_measure(None, claimed, False)
    if emitted:
        out["F8"] = {"value": 100 * LD(sum(emitted)) / len(emitted), "n": len(emitted),
                     "parameters": {"target": 100 * LD(sum(target_emitted)) / len(target_emitted)}}
    return out


def flips(rows, dtype):
    def direction(x):
        i, j = x.order_r[:2]
        a, b = difference(x.t[j], x.r[j]), difference(x.t[i], x.r[i])
        return None if a is None or b is None else a - b
    stable = [abs(direction(x)) for x in rows if x.order_r[0] == x.order_t[0] and direction(x) is not None]
    bound = summary(stable)["99"] if stable else None
    counts = dict.fromkeys(("exact_tie", "up_to_2_ulp", "near_tie", "moderate", "defect_suspect"), 0)
    for x in rows:
        best, other = x.order_r[0], x.order_t[0]
        if best == other:
            continue
        gap = difference(x.r[best], x.r[other])
        if gap is None or not np.isfinite(x.r[best]) or not np.isfinite(x.t[other]):
            kind = "defect_suspect"
        elif gap == 0:
            kind = "exact_tie"
        elif (ulps(x.r[best], x.r[other], dtype) or 0) <= 2:
            kind = "up_to_2_ulp"
        elif bound is not None and gap <= bound:
            kind = "near_tie"
        else:
            kind = "moderate" if gap <= 2 else "defect_suspect"
        counts[kind] += 1
    parameters = dict(counts)
    if bound is not None:
        parameters["near_tie_bound"] = bound
    return {"value": sum(counts.values()), "n": len(rows), "parameters": parameters}
