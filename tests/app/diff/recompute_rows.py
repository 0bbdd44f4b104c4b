# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""What recompute.py has no room for, over rows of logits: B10 to B12, C3 to C11, E5 to E11, F2 to F6."""
import math

import numpy as np
from scipy import stats

LD = np.longdouble


def mean_of(values):
    return sum(values) / len(values)


def gap_loss(x, k):
    """The reference-gap loss of one row."""
    if len(x.r) <= k:
        return None
    with np.errstate(invalid="ignore"):
        d = x.t - x.r
    q = x.order_r[:k]
    rest = [i for i in range(len(d)) if i not in set(q) and x.finite[i]]
    if not np.isfinite(d[q]).all() or not rest:
        return None
    steps = sum((d[q[i]] - d[q[i + 1]]) ** 2 for i in range(k - 1))
    return (steps + ((d[q[-1]] - d[rest]) ** 2).sum() / len(rest)) / k


def spread(rows, mean_measure):
    out = {}
    for k, name in ((1, "B10[k=1]"), (5, "B10")):
        losses = [v for v in (gap_loss(x, k) for x in rows) if v is not None]
        if losses:
            out[name] = mean_measure(None, losses, False)
    r, t = np.array([x.r for x in rows]), np.array([x.t for x in rows])
    with np.errstate(invalid="ignore"):
        d = np.abs(t - r)
        passes = [(r == t) | (np.isnan(r) & np.isnan(t)) | (d <= LD(atol) + LD(rtol) * np.abs(r))
                  for rtol, atol in ((1e-5, 1e-6), (2e-3, 1e-2))]
    strict, loose = (int((~p).sum()) for p in passes)
    out["B11"] = {"value": 100 * LD(strict) / r.size, "n": r.size,
                  "parameters": {"passes": strict == 0, "loose": 100 * LD(loose) / r.size, "loose_passes": loose == 0}}
    finite = np.isfinite(r) & np.isfinite(t)
    a, b = r[finite], t[finite]
    if len(a) and a.std() > 0:
        ca, cb = a - a.mean(), b - b.mean()
        slope = (ca * cb).sum() / (ca * ca).sum()
        out["B12"] = {"value": slope, "n": len(a), "parameters": {"intercept": b.mean() - slope * a.mean()}}
        if b.std() > 0:
            out["B12"]["parameters"]["r_squared"] = (ca * cb).sum() ** 2 / (ca * ca).sum() / (cb * cb).sum()
    return out


def temperature(log_p, log_q):
    """β and KL(q‖p_β) with E_pβ[ln p] = E_q[ln p]."""
    q = np.exp(log_q)
    if np.ptp(log_p) == 0:
        return LD(1), (q * (log_q - log_p)).sum()
    centre = log_p - log_p.max()
    wanted = (q * centre).sum()

    def at(beta):
        w = np.exp(beta * centre)
        mean = (w * centre).sum() / w.sum()
        return mean, (w * centre * centre).sum() / w.sum() - mean * mean
    beta = LD(1)
    for _ in range(200):
        mean, variance = at(beta)
        step = (wanted - mean) / variance
        beta += step
        if abs(step) <= 1e-18 * max(1, abs(beta)):
            break
    log_b = beta * centre
    log_b -= np.log(np.exp(log_b).sum())
    return beta, (q * (log_q - log_b)).sum()


def distances(rows, mean_measure, summary):
    """C3, C5, C6, C10, C11."""
    live = [x for x in rows if x.compared]
    if not live:
        return {}
    values = {name: [] for name in ("C3", "C5", "C6", "C10", "C11", "left")}
    for x in live:
        p, q = np.exp(x.log_p), np.exp(x.log_q)
        difference = x.log_q - x.log_p
        # ln((p+q)/2) − ln p and − ln q, by log1p so that nothing cancels.
        to_p, to_q = np.log1p(np.expm1(difference) / 2), np.log1p(np.expm1(-difference) / 2)
        values["C3"].append(-((p * to_p) + (q * to_q)).sum() / 2)
        values["C5"].append(np.sqrt((p * np.expm1(difference / 2) ** 2).sum() / 2))
        values["C6"].append((p * np.expm1(difference) ** 2).sum())
        shown = (p > 1e-6) | (q > 1e-6)
        values["C11"].append(np.abs(difference[shown]).max())
        beta, left = temperature(x.log_p, x.log_q)
        values["C10"].append(beta - 1)
        values["left"].append(left)
    fits = [v for v in values["C6"] if v < 1.79e308]
    out = {name: mean_measure(None, values[name], False) for name in ("C3", "C5", "C10")}
    out["C6"] = mean_measure(None, fits, False) or {"value": None, "n": 0}
    out["C6"]["parameters"] = {"rows_infinite": len(live) - len(fits)} if len(fits) < len(live) else {}
    out["C10"]["parameters"] = {"kl_left": mean_of(values["left"])}
    out["C11"] = {"value": max(values["C11"]), "n": len(live), "percentiles": summary(values["C11"])}
    excluded = sum(int((~x.finite).sum()) for x in rows)
    for measure in out.values():
        if excluded:
            measure.setdefault("parameters", {}).update(elements_not_finite=excluded,
                                                        rows_not_finite=len(rows) - len(live))
    return out


def breakings(z, k):
    """Certain and possible members of the best k, whether that is a choice, and any tie in it."""
    ordered = np.sort(np.where(np.isnan(z), -np.inf, z))[::-1]
    last = ordered[k - 1]
    certain = {int(i) for i in np.flatnonzero(z > last)}
    possible = {int(i) for i in np.flatnonzero(z >= last)}
    tie = bool((ordered[1:k] == ordered[:k - 1]).any()) or len(possible) > k
    return certain, possible, len(possible) > k, tie


def ties(rows, k):
    counts = np.zeros(5, int)
    for x in rows:
        z = [x.r, x.t]
        if any(np.isnan(s).sum() > len(s) - k for s in z):
            return None
        (ca, pa, choice_a, tie_a), (cb, pb, choice_b, tie_b) = (breakings(s, k) for s in z)
        certain, both = ca | cb, pa & pb
        possible = certain <= both and len(certain) <= k <= len(both)
        u = sorted(certain)
        agree = not any(z[0][i] > z[0][j] and z[1][i] < z[1][j] for i in u for j in u)
        same = set(x.order_r[:k]) == set(x.order_t[:k])
        counts += [possible, not (choice_a or choice_b) and same, possible and agree,
                   not (tie_a or tie_b) and x.order_r[:k] == x.order_t[:k], tie_a or tie_b]
    n = len(rows)
    share = [100 * LD(int(c)) / n for c in counts]
    return {"value": share[0], "n": n,
            "parameters": dict(zip(("set_lower", "order_upper", "order_lower", "tied"), share[1:]))}


def rank_agreement(x, k):
    a, b = x.order_r[:k], x.order_t[:k]
    union = list(dict.fromkeys(a + b))
    overlap = sum(LD(.1) * LD(.9) ** (s - 1) * len(set(a[:s]) & set(b[:s])) / s for s in range(1, k + 1))
    if np.isnan(x.r[union]).any() or np.isnan(x.t[union]).any():
        return None, overlap
    ranks = [stats.rankdata(z[union]) for z in (x.r, x.t)]
    tau = stats.kendalltau(*ranks).statistic
    return (None if np.isnan(tau) else LD(tau)), overlap


def renormalised(x, k=64):
    def best(z, order):
        ids = order[:k]
        w = np.exp(z[ids] - z[ids[0]])
        return dict(zip(ids, w / w.sum()))
    p, q = best(x.r, x.order_r), best(x.t, x.order_t)
    total = sum(abs(p.get(i, 0) - q.get(i, 0)) for i in set(p) | set(q)) / 2
    return total if np.isfinite(total) else None


def nucleus(z, order, lse):
    ids, mass = set(), 0.0
    for i in order:
        if not np.isfinite(z[i]):
            return None
        mass += float(np.exp(z[i] - lse))
        ids.add(i)
        if mass >= .9:
            return ids
    return None


def rankings(ref, tgt, pairs, rows, mean_measure):
    """E5, E7, E8, E10, E11."""
    out = {}
    size = len(rows[0].r)
    for k in (1, 2, 5, 10, 20):
        if k <= size and (found := ties(rows, k)):
            out["E5" + ("" if k == 5 else f"[k={k}]")] = found
    for k in (5, 20):
        if k > size:
            continue
        found = [rank_agreement(x, k) for x in rows]
        taus = [t for t, _ in found if t is not None]
        if taus:
            name = "E7" + ("" if k == 5 else f"[k={k}]")
            out[name] = mean_measure(None, taus, False)
            out[name]["parameters"] = {"rank_biased_overlap": mean_of([o for _, o in found])}
    if size >= 64:
        found = [v for v in (renormalised(x) for x in rows) if v is not None]
        if found:
            out["E8"] = mean_measure(None, found, False)
    both = []
    for x in rows:
        if x.compared:
            a, b = nucleus(x.r, x.order_r, x.lse_r), nucleus(x.t, x.order_t, x.lse_t)
            if a and b:
                both.append((LD(len(a & b)) / len(a | b), LD(len(a)), LD(len(b))))
    if both:
        out["E11"] = mean_measure(None, [j for j, _, _ in both], False)
        out["E11"]["parameters"] = {"size": mean_of([a for _, a, _ in both]), "target_size": mean_of([b for _, _, b in both])}
    parts = []
    for (sample, position, _, _), x in zip(pairs, rows):
        a, b = ref.tokens[sample], tgt.tokens[sample]
        if position + 1 < min(len(a), len(b)) and a[position + 1] != b[position + 1]:
            parts.append(max(x.order_r.index(b[position + 1]), x.order_t.index(a[position + 1])))
    if parts:
        share = {n: 100 * LD(sum(p < n for p in parts)) / len(parts) for n in (2, 5, 10, 20)}
        out["E10"] = {"value": share[5], "n": len(parts),
                      "parameters": {f"within_{n}": share[n] for n in (2, 10, 20)}}
    return out


def crowd(rows, mean_measure):
    """F2, F3."""
    out, counts, flipped, stable, half = {}, [], [], [], []
    for x in rows:
        best, other = x.order_r[0], x.order_t[0]
        if np.isfinite(x.r[best]) and np.isfinite(x.t[other]):
            counts.append([LD(int((x.r[best] - x.r <= w).sum())) for w in (.25, .5, 1, 2)])
            flipped.append(best != other)
        if x.finite.all():
            d = x.t - x.r
            others = np.delete(d, best)
            margin = x.r[best] - x.r[x.order_r[1]]
            stable.append(margin - (others.max() - d[best]) > 0)
            half.append((d.max() - d.min()) / 2)
    if counts:
        values = [c[2] for c in counts]
        out["F2"] = {"value": mean_of(values), "n": len(values),
                     "parameters": {f"within_{w}": mean_of([c[i] for c in counts]) for i, w in ((0, .25), (1, .5), (3, 2))}}
        for name, wanted in (("stable", False), ("flipped", True)):
            own = [v for v, f in zip(values, flipped) if f == wanted]
            if own:
                out["F2"]["parameters"][name] = mean_of(own)
    if stable:
        out["F3"] = {"value": 100 * LD(sum(stable)) / len(stable), "n": len(stable), "parameters": {"half_range": max(half)}}
    return out


def flip_prediction(rows, direction):
    """F5, F6. `direction`: B9's values."""
    cases = []
    for x in rows:
        a, b = x.r[x.order_r[0]], x.r[x.order_r[1]]
        if np.isfinite(a) and np.isfinite(b):
            cases.append((a - b, x.order_r[0] != x.order_t[0]))
    out = {}
    flips = [m for m, f in cases if f]
    others = [m for m, f in cases if not f]
    if flips and others:
        wins = sum((a < b) + LD(.5) * (a == b) for a in flips for b in others)
        precision, before = LD(0), LD(0)
        for threshold in sorted({m for m, _ in cases}):
            taken = [f for m, f in cases if m <= threshold]
            recall = LD(sum(taken)) / len(flips)
            precision += (recall - before) * LD(sum(taken)) / len(taken)
            before = recall
        out["F5"] = {"value": wins / (len(flips) * len(others)), "n": len(cases), "parameters": {"average_precision": precision}}
    if cases and direction:
        d = np.array(direction, LD)
        sigma = LD(1.482602218505602) * np.median(np.abs(d - np.median(d)))
        normal = (lambda m: math.erfc(float(m / sigma) / math.sqrt(2)) / 2) if sigma > 0 else (lambda m: .5 * (m == 0))
        expected = sum(normal(m) for m, _ in cases)
        out["F6"] = {"value": expected, "n": len(cases), "parameters": {"observed": len(flips), "deviation": sigma}}
        if expected > 0:
            out["F6"]["parameters"]["observed_over_expected"] = len(flips) / expected
    return out
