# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""What recompute.py has no room for, over tokens: C12, D3 to D14, G2 to G10, J4 to J7, L; Philox and resampling."""
import numpy as np
from scipy import stats

LD = np.longdouble
SEED = 20260820
RESAMPLES = 10_000


def mean_of(values):
    return sum(values) / len(values)


def philox(counter, key):
    """Philox4x32-10 on arrays of 32-bit words."""
    c = [np.asarray(x, np.uint64) for x in counter]
    k = [int(x) for x in key]
    mask = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(b >> np.uint64(32)) ^ c[1] ^ np.uint64(k[0]), b & mask, (a >> np.uint64(32)) ^ c[3] ^ np.uint64(k[1]), a & mask]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def words(streams, count):
    """The first `count` words of streams 0 … streams − 1 of the usual seed: streams × count."""
    blocks = (count + 3) // 4
    stream, block = np.meshgrid(np.arange(streams), np.arange(blocks), indexing="ij")
    out = philox((block, np.zeros_like(block), stream, np.zeros_like(block)), (SEED, 0))
    return np.stack(out, -1).reshape(streams, -1)[:, :count]


def bootstrap(numerators, denominators, resamples=RESAMPLES):
    """The middle 95 % of the ratio of sums."""
    n = len(numerators)
    draws = (words(resamples, n) * np.uint64(n)) >> np.uint64(32)
    a, b = (np.array(x, float)[draws.astype(int)].sum(1) for x in (numerators, denominators))
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = a / b
    ratio = ratio[np.isfinite(ratio)]
    return np.quantile(ratio, [.025, .975]) if len(ratio) else None


def theil_sen(x, y):
    if len(set(x)) < 2:
        return None
    return LD(stats.theilslopes(np.array(y, float), np.array(x, float)).slope)


def chosen(deltas, ours, theirs, where, owners, mean_measure, summary):
    """D3, D5 to D14 and C12 from δ, ln π of both sides, positions and samples, in row order."""
    if not deltas:
        return {}
    n = len(deltas)
    samples = {s: [i for i in range(n) if owners[i] == s] for s in dict.fromkeys(owners)}
    d = np.array(deltas, LD)
    out = {}
    k = [-d, d * d / 2, np.expm1(d) - d]
    small = np.abs(d) < 1e-4
    k[2][small] = (d * d / 2 * (1 + d / 3 + d * d / 12 + d ** 3 / 60))[small]
    out["D3"] = mean_measure(None, list(k[0]), False)
    out["D3"]["parameters"] = {"k2": k[1].mean(), "k3": k[2].mean()}
    for i, values in enumerate(k):
        for form, of in (("sum", np.sum), ("mean", np.mean), ("max", np.max)):
            out["D3"]["parameters"][f"k{i + 1}_sequence_{form}"] = mean_of([of(values[rows]) for rows in samples.values()])
    p, q = np.exp(np.array(ours, LD)), np.exp(np.array(theirs, LD))
    cp, cq = p - p.mean(), q - q.mean()
    if n > 1 and (cp * cp).sum() > 0 and (cq * cq).sum() > 0:
        out["D5"] = {"value": (cp * cq).sum() / np.sqrt((cp * cp).sum() * (cq * cq).sum()), "n": n,
                     "parameters": {"slope": (cp * cq).sum() / (cp * cp).sum()}}
    over = {t: 100 * LD(int((np.abs(d) > np.log(t)).sum())) / n for t in (1.1, 1.5, 2, 3, 5, 10)}
    out["D6"] = {"value": over[2], "n": n, "parameters": {f"over_{t}": v for t, v in over.items() if t != 2}}
    rho = np.exp(np.minimum(d, 700))
    out["D7"] = {"value": rho.max(), "n": n, "percentiles": summary(rho),
                 "parameters": {"smallest": rho.min(), "below_1e-4": int((rho < 1e-4).sum())}}
    sums = np.array([d[rows].sum() for rows in samples.values()])
    out["D8"] = {"value": np.expm1(2 * d).mean(), "n": n, "parameters": {"sequence": np.expm1(2 * sums).mean()}}
    def effective(w):
        w = np.exp(w - w.max())
        return w.sum() ** 2 / (len(w) * (w * w).sum())
    out["D9"] = {"value": effective(d), "n": n, "parameters": {"sequence": effective(sums)}}
    out["D10"] = mean_measure(None, list(rho), False)
    out["D10"]["parameters"] = {"above_2_percent": 100 * LD(int((rho > 2).sum())) / n,
                                "below_0.5_percent": 100 * LD(int((rho < .5).sum())) / n}
    if n > 1:
        out["D10"]["parameters"]["std"] = np.sqrt(((rho - rho.mean()) ** 2).sum() / (n - 1))
    lengths = np.array([len(rows) for rows in samples.values()], LD)
    out["D11"] = mean_measure(None, list(sums), False)
    if lengths.std() > 0:
        c = lengths - lengths.mean()
        out["D11[of=slope]"] = {"value": 1000 * (c * (sums - sums.mean())).sum() / (c * c).sum(), "n": len(sums)}
    each = -sums / lengths
    out["D12"] = mean_measure(None, list(each), False)
    out["D12"]["parameters"] = {"mean_abs": np.abs(each).mean(), "max": each.max(), "min": each.min(),
                                "exp_of_mean": np.exp(each.mean()), "mean_of_exp": np.exp(each).mean()}
    places = sorted(set(where))
    curve = [mean_of([abs(d[i]) for i in range(n) if where[i] == p]) for p in places]
    slope = theil_sen(places, curve)
    if slope is not None:
        size = np.abs(d) - np.abs(d).mean()
        out["D13"] = {"value": slope, "n": len(places), "parameters": {"all_pairs": 1}}
        if (size * size).sum() > 0:
            out["D13"]["parameters"]["autocorrelation"] = sum(
                size[i] * size[i - 1] for i in range(1, n) if owners[i] == owners[i - 1]) / (size * size).sum()
    ordered = np.sort(np.abs(d))[::-1]
    def hill(share):
        top = int(share * n)
        if top < 2 or top >= n or ordered[top] <= 0 or ordered[0] == ordered[top]:
            return None
        return 1 / np.log(ordered[:top] / ordered[top]).mean()
    if hill(.05) is not None:
        out["D14"] = {"value": hill(.05), "n": int(.05 * n), "parameters": {
            f"top_{i}_percent": hill(i / 100) for i in range(1, 5) if hill(i / 100) is not None}}
    a, b = np.array(ours, LD), np.array(theirs, LD)
    out["C12"] = {"value": np.exp(-b.mean()), "n": n,
                  "parameters": {"reference": np.exp(-a.mean()), "ratio": np.exp(a.mean() - b.mean())}}
    x, y = (np.array([v[rows].mean() for rows in samples.values()]) for v in (a, b))
    if len(x) > 1 and x.std() > 0 and y.std() > 0:
        out["C12"]["parameters"]["correlation"] = ((x - x.mean()) * (y - y.mean())).mean() / (x.std() * y.std())
    out["L4"] = {"tokens": (ours, theirs, where, owners)} # costly: made when asked for
    return out


def swap_test(a, b):
    """Labels swapped inside samples; a and b: lists of (sum, count)."""
    a, b = np.array(a, float), np.array(b, float)
    n = len(a)
    bits = words(RESAMPLES, (n + 31) // 32)
    swap = np.stack([(bits[:, s // 32] >> np.uint64(s % 32)) & np.uint64(1) for s in range(n)], 1).astype(bool)
    def statistic(swapped):
        first = np.where(swapped[..., None], b, a).sum(-2)
        second = np.where(swapped[..., None], a, b).sum(-2)
        return np.abs(first[..., 0] / first[..., 1] - second[..., 0] / second[..., 1])
    observed = statistic(np.zeros(n, bool))
    return (1 + int((statistic(swap) >= observed * (1 - 1e-12)).sum())) / (1 + RESAMPLES)


def permutation(ours, theirs, where, owners):
    def sides(keep):
        found = {}
        for x, y, p, s in zip(ours, theirs, where, owners):
            if keep(p):
                found.setdefault(s, []).append((float(x), float(y)))
        return [[(sum(v[side] for v in vs), len(vs)) for vs in found.values()] for side in (0, 1)]
    groups = {}
    for p in where:
        width = int(p).bit_length()
        low, high = (0, 0) if width == 0 else (2 ** (width - 1), 2 ** width - 1)
        groups[str(low) if low == high else f"{low}-{high}"] = (low, high)
    p = {name: swap_test(*sides(lambda x: low <= x <= high)) for name, (low, high) in groups.items()}
    adjusted, largest = {}, 0
    for left, name in zip(range(len(p), 0, -1), sorted(p, key=lambda g: p[g])):
        largest = max(largest, p[name] * left)
        adjusted[name] = min(1, largest)
    return {"value": swap_test(*sides(lambda x: True)), "n": len(set(owners)), "by_group": adjusted}


def change_point(curve):
    """L7 from C1 by position."""
    places = [i for i, v in enumerate(curve) if v is not None]
    x = np.array([curve[i] for i in places], LD)
    if len(x) < 2 or not ((x - x.mean()) ** 2).sum() > 0:
        return {}
    def excursion(v):
        return np.abs(np.cumsum(v - x.mean()))
    largest = excursion(x).max()
    before = int(excursion(x).argmax()) + 1
    random = words(999, len(x))
    shuffled, reached = list(x), 0
    for stream in random:
        for used, j in enumerate(range(len(x) - 1, 0, -1)):
            other = int(stream[used]) * (j + 1) >> 32
            shuffled[j], shuffled[other] = shuffled[other], shuffled[j]
        reached += excursion(np.array(shuffled, LD)).max() >= largest * (1 - 1e-12)
    return {"L7": {"value": places[min(before, len(places) - 1)], "n": len(x), "parameters": {
        "p": (1 + reached) / 1000, "statistic": largest / np.sqrt(((x - x.mean()) ** 2).sum())}}}


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        row, before = [i + 1], row
        for j, y in enumerate(b):
            row.append(min(row[j] + 1, before[j + 1] + 1, before[j] + (x != y)))
    return row[-1]


def survival(times, events):
    """Kaplan and Meier: [(time, S, Greenwood's variance)]."""
    out, s, sum_ = [], LD(1), LD(0)
    for t in sorted({x for x, e in zip(times, events) if e}):
        risk, died = sum(x >= t for x in times), sum(x == t and e for x, e in zip(times, events))
        s *= 1 - LD(died) / risk
        sum_ += LD(died) / (risk * (risk - died)) if died < risk else 0
        out.append((t, s, s * s * sum_))
    return out


def responses(ref, tgt, summary):
    """G1 to G6: free runs' responses, sample by sample."""
    pairs = []
    for sample in ref.samples:
        if sample in tgt.samples:
            a, b = (run.tokens[sample][run.prompt[sample]:] for run in (ref, tgt))
            if a or b:
                pairs.append((a, b))
    n = len(pairs)
    if n == 0:
        return {}
    def first(a, b, start=0):
        return next((i for i in range(start, min(len(a), len(b))) if a[i] != b[i]), min(len(a), len(b)))
    at = [first(a, b) for a, b in pairs]
    same = sum(a == b for a, b in pairs)
    longer = [max(len(a), len(b)) for a, b in pairs]
    lengths = [LD(len(b) - len(a)) for a, b in pairs]
    edits = [LD(edit_distance(a, b)) / m for (a, b), m in zip(pairs, longer)]
    out = {"G1": {"value": 100 * LD(same) / n, "n": n},
           "G4": {"value": mean_of([LD(i) / m for i, m in zip(at, longer)]), "n": n},
           "G5": {"value": mean_of(lengths), "n": n, "percentiles": summary(lengths)},
           "G6": {"value": mean_of(edits), "n": n, "percentiles": summary(edits)},
           "G2": {"value": None, "n": n, "parameters": {"censored": same}},
           "G3": {"value": None, "n": 0, "parameters": {}}}
    # These tokens decode to a text of their own each, and no eight of them agree after a split.
    out["G11"] = {"value": out["G1"]["value"], "n": n, "parameters": {"same_text_other_ids": 0}}
    if any(i < min(len(a), len(b)) for i, (a, b) in zip(at, pairs)):
        out["G6"]["parameters"] = {"found_again_percent": 0}
    differ = [LD(i) for i, (a, b) in zip(at, pairs) if a != b]
    if differ:
        out["G2"].update(value=summary(differ)["50"], percentiles=summary(differ))
    km = survival(at, [a != b for a, b in pairs])
    median = next((t for t, s, _ in km if s <= .5 + 1e-12), None)
    z = stats.norm.ppf(.975)
    bounds = {"kaplan_meier_low": None, "kaplan_meier_high": None}
    for t, s, v in km:
        spread = z * np.sqrt(v) / (s * abs(np.log(s))) if 0 < s < 1 else None
        ends = (s ** np.exp(spread), s ** np.exp(-spread)) if spread is not None else (0, 0)
        for key, end in zip(bounds, ends):
            bounds[key] = t if bounds[key] is None and end <= .5 else bounds[key]
    out["G2"]["parameters"].update({k: v for k, v in {"kaplan_meier_median": median, **bounds}.items() if v is not None})
    out["G2"]["by_position"] = [next((s for t, s, _ in reversed(km) if t <= i), LD(1)) for i in range(max(longer))]
    spans, none = [], 0
    for i, (a, b) in zip(at, pairs):
        shorter = min(len(a), len(b))
        if i < shorter:
            second = first(a, b, i + 1)
            spans.append(LD(second - i)) if second < shorter else None
            none += second >= shorter
    out["G3"]["parameters"]["no_second_difference"] = none
    if spans:
        out["G3"].update(value=summary(spans)["50"], n=len(spans), percentiles=summary(spans))
        out["G3"]["parameters"]["next_token_percent"] = 100 * LD(sum(s == 1 for s in spans)) / len(spans)
    return out


def task_statistics(answers, nonfinite):
    """J4, J6, J7 from [(category, label, reference's answer, target's answer)]."""
    logits = {"logits_not_finite": nonfinite[1], "reference_logits_not_finite": nonfinite[0]}
    if not answers:
        return {"J6": {"value": None, "n": 0, "parameters": logits}}
    def p_value(rows):
        b = sum(a == label and t != label for _, label, a, t in rows)
        c = sum(a != label and t == label for _, label, a, t in rows)
        return b, c, stats.binomtest(min(b, c), b + c).pvalue if b + c else 1
    b, c, p = p_value(answers)
    groups = {g: p_value([x for x in answers if x[0] == g])[2] for g in {x[0] for x in answers}}
    adjusted, largest = {}, 0
    for left, g in zip(range(len(groups), 0, -1), sorted(groups, key=lambda g: groups[g])):
        largest = max(largest, groups[g] * left)
        adjusted[g] = min(1, largest)
    n = LD(len(answers))
    agree = sum(a == t for _, _, a, t in answers) / n
    classes = {x for _, _, a, t in answers for x in (a, t)}
    chance = sum(LD(sum(a == x for _, _, a, _ in answers)) * sum(t == x for *_, t in answers) for x in classes) / n ** 2
    return {"J4": {"value": p, "n": len(answers), "parameters": {"to_wrong": b, "to_right": c}, "by_group": adjusted},
            "J6": {"value": sum(t == "" for *_, t in answers), "n": len(answers),
                   "parameters": {"reference": sum(a == "" for _, _, a, _ in answers), **logits}},
            "J7": {"value": (agree - chance) / (1 - chance), "n": len(answers)}}
