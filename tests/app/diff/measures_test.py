# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Every number of the JSON report against recompute.py: measures_test.py MOIRE-DIFF MAKE_CAPTURES.

Counts exact, KL to 1e-5 relative down to 1e-10 nats, quantiles over elements to 1 %, everything else to 1e-9 relative. A number
that the report holds and recompute.py does not know is a failure too.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.optimize

import recompute_tokens
from recompute import Run, align
from recompute_runs import recompute

TOLERANCES = {"elements": 1e-2, "C1": 1e-5, "C2": 1e-5, "L7": 1e-5, "D13": 1e-8, "interval": 1e-7}
# Differences of two numbers of order 1, each right to a few units in the last place of a double.
# Probabilities below 1e-18 of a row's whole are beyond recompute.py's own precision.
# Not ratios of sums, or their denominators are not what they are taken over.
OTHER_SUMS = ("H5", "B4", "B12", "C12", "D5", "D9", "I5", "I7", "J7", "L3")
SCALES = {"%": 100, "ppm": 1e6}
FLOORS = {"elements": 2.0**-133, "B10": 1e-24, "C1": 1e-15, "C2": 1e-15, "C3": 1e-24, "C5": 1e-18, "C6": 1e-36, "C10": 1e-14, "C11": 1e-18, "D3": 1e-14,
          "D8": 1e-14, "D11": 1e-13, "D12": 1e-14, "C9": 1e-14, "D1": 1e-14, "D2": 1e-14, "D4": 1e-14, "C4": 1e-18, "C7": 1e-36, "C8": 1e-18, "B8": 1e-36}
FULL = ("bf16", "fp32", "fp16", "wild", "wild16", "single", "tied", "mixed", "moe", "free", "hostile")
ANSWERS = {"free": [("a", "A", "A", "A"), ("a", "B", "B", "D"), ("b", "C", "A", "B")]}


def ids(count, first):
    return [(first + 7 * i) % 97 for i in range(count)]


PROMPTS = {"fact": ids(9, 3), "sum/one": ids(6, 11), "0": [5], "same": ids(4, 1), "parts": ids(5, 2),
           "longer": ids(3, 4), "</script>\x1b[31m\u202e": ids(3, 1)}
problems = []
checked = 0


def number(x):
    return float(x) if isinstance(x, str) else x


def check(where, got, want, measure):
    global checked
    checked += 1
    got = number(got)
    if got is None or want is None:
        if not (got is None and want is None):
            problems.append(f"{where}: {got}, expected {want}")
        return
    want = float(want)
    got = float(got)
    if got == want or (np.isnan(got) and np.isnan(want)):
        return
    tolerance, floor = TOLERANCES.get(measure, 1e-9), FLOORS.get(measure, 0)
    if not abs(got - want) <= max(tolerance * abs(want), floor):
        problems.append(f"{where}: {got!r}, expected {want!r}, relative {abs(got - want) / (abs(want) or 1):.1e}")


def compare(where, got, want):
    """One measure of the report against its twin."""
    measure = where.split()[-1].split("[")[0]
    if want is None:
        if got["value"] is not None:
            problems.append(f"{where}: not recomputed")
        elif not got.get("why_null"):
            problems.append(f"{where}: null without a reason")
        return
    check(where + " value", got["value"], want["value"], measure)
    if want["value"] is not None or "n" in want:
        check(where + " n", got["n"], want["n"], "count")
    for part in ("parameters", "percentiles", "by_layer", "by_group"):
        ours, theirs = got.get(part, {}), want.get(part, {})
        if set(ours) != set(theirs):
            problems.append(f"{where} {part}: {sorted(ours)}, expected {sorted(theirs)}")
        for key in set(ours) & set(theirs):
            kind = "elements" if key.startswith("elements_") else measure
            check(f"{where} {part} {key}", ours[key], theirs[key], kind)
    ours, theirs = got.get("by_position", []), want.get("by_position", [])
    if len(ours) != len(theirs):
        problems.append(f"{where} by_position: {len(ours)} places, expected {len(theirs)}")
    for i, (x, y) in enumerate(zip(ours, theirs)):
        check(f"{where} by_position {i}", x, y, measure)
    if got.get("matrix") != want.get("matrix"):
        problems.append(f"{where} matrix: {got.get('matrix')}, expected {want.get('matrix')}")
    if "at" in want and got.get("at") != want["at"]:
        problems.append(f"{where} at: {got.get('at')}, expected {want['at']}")


def check_resampling(where, key, got, samples):
    """Interval, question_mean and rule_of_three from the samples' own values."""
    parameters = got.get("parameters", {})
    mean, three = parameters.pop("question_mean", None), parameters.pop("rule_of_three", None)
    low, high = parameters.pop("bootstrap_low", None), parameters.pop("bootstrap_high", None)
    own = [s.get(key) for s in samples]
    known = [x for x in own if x and x.get("value") is not None and x["n"]]
    base = key.split("[")[0]
    if mean is not None and base not in ("I5", "I7"):
        check(where + " question_mean", mean, sum(x["value"] for x in known) / len(known), base)
    scale = SCALES.get(got["unit"], 1)
    if three is not None and known and base[0] not in "GJ":
        check(where + " rule_of_three", three, 3 * scale / max(3, len(known)) if got["value"] == 0
              else scale - 3 * scale / max(3, len(known)), "count")
    if base in OTHER_SUMS or "of=" in key or len(known) < 2 or not (got["interval"] or {}).get("method", "").startswith("bootstrap"):
        return
    shares = [(x["value"] * x["n"] / scale, x["n"]) if x and x.get("value") is not None else (0, 0) for x in own]
    low, high = recompute_tokens.bootstrap([float(a) for a, _ in shares], [float(b) for _, b in shares])
    for end, wanted in (("low", low), ("high", high)):
        check(f"{where} interval {end}", got["interval"][end], wanted * scale, "interval")


def check_pair(program, folder, name):
    files = [str(folder / f"{name}.{side}.moire") for side in ("ref", "target")]
    done = subprocess.run([program, *files, "--format", "json"], capture_output=True, text=True)
    report = json.loads(done.stdout)
    assert done.returncode == report["exit"] == 1, done.stderr
    runs = [Run.load(program, f, folder / f"{name}.{i}", PROMPTS) for i, f in enumerate(files)]
    overall, taps, samples = recompute(*runs, ANSWERS.get(name, []))
    for key, measure in report["measures"].items():
        check_resampling(f"{name} {key}", key, measure, list(samples.values()))
        compare(f"{name} {key}", measure, overall.get(key))
    missing = set(overall) - set(report["measures"])
    if missing:
        problems.append(f"{name}: the report lacks {sorted(missing)}")
    for tap in report["taps"]:
        for key, measure in tap["measures"].items():
            compare(f"{name} {tap['name']} {key}", measure, taps[tap["name"]].get(key))
    for sample in report["samples"]:
        for key, measure in sample["measures"].items():
            compare(f"{name} {sample['id']!r} {key}", measure, samples[sample["id"]].get(key))
    pairs, splits = align(*runs)
    assert report["alignment"]["rows"] == len(pairs)
    assert {s["id"]: s["split"] for s in report["samples"]} == splits


# What top-K tables bound, and whether also from above.
BOUNDED = {"B1": False, "B2": False, "B3": False, "B8": False, "C1": False, "C2": False, "C3": True, "C4": True,
           "C5": True, "C6": False, "C7": True, "C8": True, "C9": True, "C11": False}


def check_bounds(whole, part, where):
    """The bounds that tables give hold what the whole rows give, and are not called a value."""
    for key, above in BOUNDED.items():
        truth, measure = whole[key]["value"], part[key]
        if measure["value"] is not None or truth is None:
            problems.append(f"{where} {key}: {measure['value']} for {truth}")
            continue
        bounds = measure.get("parameters", {})
        low, high = bounds.get("at_least"), bounds.get("at_most")
        check_that(where + ' ' + key, low is not None and low <= truth * (1 + 1e-9) + 1e-15
                   if key != "C9" else low <= truth + 1e-12, low, truth)
        check_that(where + ' ' + key, (high is not None) == above, high, truth)
        check_that(where + ' ' + key, high is None or truth <= high * (1 + 1e-9) + 1e-15 or key == "C9" and
                   truth <= high + 1e-12, high, truth)
        check_that(where + ' ' + key, "at least" in measure["why_null"], measure["why_null"], "")


def check_that(where, good, got, want):
    global checked
    checked += 1
    if not good:
        problems.append(f"{where}: bound {got}, truth {want}")


def least(reference, target, k, term):
    """The smallest sum of term(p, q) over all pairs of distributions that give these two top-k tables."""
    def table(z):
        p = np.exp(z - z.max())
        p /= p.sum()
        best = np.argsort(-z, kind="stable")[:k]
        return p, best
    (p, a), (q, b) = table(reference), table(target)
    n = len(p)
    limits = [[(0, side[best[-1]])] * n for side, best in ((p, a), (q, b))]
    for side, best, limit in ((p, a, limits[0]), (q, b, limits[1])):
        for i in best:
            limit[i] = (side[i], side[i])
    start = []
    for side, best in ((p, a), (q, b)):
        guess = side.copy()
        others = np.setdiff1d(np.arange(n), best)
        guess[others] = guess[others].mean()
        start.append(guess)
    done = scipy.optimize.minimize(
        lambda x: sum(term(x[:n], x[n:])), np.concatenate(start), method="SLSQP",
        bounds=[(max(low, 1e-12), max(high, 1e-12)) for low, high in limits[0] + limits[1]],
        constraints=[{"type": "eq", "fun": lambda x, s=s: x[s].sum() - 1} for s in (slice(0, n), slice(n, 2 * n))],
        options={"maxiter": 500, "ftol": 1e-13})
    return done.fun


def check_tightness(program, folder):
    """One row of twelve tokens, four of them listed: the lower bounds against SciPy's minimiser."""
    files = [str(folder / f"narrow.{side}.moire") for side in ("ref", "target")]
    full = [str(folder / f"wide.{side}.moire") for side in ("ref", "target")]
    reports = [json.loads(subprocess.run([program, *pair, "--format", "json"], capture_output=True).stdout)["measures"]
               for pair in (full, files)]
    check_bounds(*reports, "narrow")
    rows = []
    for i, file in enumerate(full):
        subprocess.run([program, "export", file, "--npy", folder / f"wide.{i}", "--quiet"], check=True)
        rows.append(np.load(folder / f"wide.{i}" / "lm_head.out.npy")[0].astype(float))
    for key, term in (("C1", lambda p, q: p * np.log(p / q)), ("C2", lambda p, q: q * np.log(q / p)),
                      ("C3", lambda p, q: (p * np.log(2 * p / (p + q)) + q * np.log(2 * q / (p + q))) / 2),
                      ("C4", lambda p, q: np.abs(p - q) / 2), ("C6", lambda p, q: (q - p) ** 2 / p)):
        low = reports[1][key]["parameters"]["at_least"]
        found = least(*rows, 4, term)
        check_that(f"narrow {key} least", low <= found + 1e-6 and low >= found * (1 - 2e-2) - 1e-6, low, found)


def check_level(program, folder, level):
    """What a capture below level full still says is what the full one says."""
    reports = []
    for name in ("bf16", level):
        files = [str(folder / f"{name}.{side}.moire") for side in ("ref", "target")]
        done = subprocess.run([program, *files, "--format", "json"], capture_output=True, text=True)
        reports.append(json.loads(done.stdout))
    whole, part = (r["measures"] for r in reports)
    assert set(whole) == set(part)
    known = [k for k in part if part[k]["value"] is not None]
    assert {"A6", "A8", "D1", "E1", "E3", "F1", "I2"} <= set(known), known
    assert part["A1"]["value"] is None and part["C1"]["value"] is None
    for key in known:
        check(f"{level} {key}", part[key]["value"], whole[key]["value"], key)
        check(f"{level} {key} n", part[key]["n"], whole[key]["n"], "count")
    if level == "topk":
        check_bounds(whole, part, level)
        for ours, theirs in zip(*(r["samples"] for r in reports)):
            low = theirs["measures"]["C1"]["parameters"]["at_least"]
            check_that("sample C1", 0 < low <= ours["measures"]["C1"]["value"], low, ours["measures"]["C1"]["value"])
    ours, theirs = reports[1]["first"]["bitwise"], reports[0]["first"]["bitwise"]
    assert [ours[k] for k in ("sample", "position", "tap")] == [theirs[k] for k in ("sample", "position", "tap")]


def main():
    program, maker = sys.argv[1:3]
    np.seterr(all="ignore")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([maker, folder], check=True)
        for name in sys.argv[3:] or FULL:
            check_pair(program, Path(folder), name)
        for level in ("topk", "digest"):
            check_level(program, Path(folder), level)
        check_tightness(program, Path(folder))
    for problem in problems[:60]:
        print(problem)
    print(f"{checked} numbers recomputed, {len(problems)} wrong")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
