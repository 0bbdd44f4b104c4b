# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""The statistics against SciPy and NumPy on drawn data: statistics_test.py PROBE.

1e-9 relative, exact where the answer is a count.
"""
import subprocess
import sys

import numpy as np
from scipy import stats

rng = np.random.default_rng(7)
requests, wanted = [], []


def ask(name, numbers, answer, relative=1e-9):
    requests.append(name + " " + " ".join(repr(float(x)) for x in numbers))
    wanted.append((np.array(answer, float), relative))


def proportions():
    for n in (1, 2, 17, 1000, 10**6):
        for events in sorted({0, 1, n // 3, n - 1, n}):
            ci = stats.binomtest(events, n).proportion_ci(method="wilson")
            # At 0 and n SciPy's own end is 1e-17 off; ours is clamped.
            low, high = (0 if events == 0 else ci.low), (1 if events == n else ci.high)
            ask("wilson", [events, n], [low, high])
    for p in (1e-300, 1e-12, 1e-4, .02, .3, .5, .9, 1 - 1e-9):
        ask("normal", [p], [stats.norm.ppf(p), p])
    for b, c in [(0, 0), (1, 0), (5, 1), (12, 12), (150, 86), (3, 400), (40_000, 40_700), (300_000, 302_000)]:
        ask("mcnemar", [b, c], [stats.binomtest(min(b, c), b + c).pvalue if b + c else 1], 1e-8)


def several():
    for n in (1, 2, 9, 200):
        p = rng.uniform(size=n) ** 3
        order = np.argsort(p, kind="stable")
        holm = np.empty(n)
        holm[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(n, 0, -1)))
        ask("holm", p, holm)
        ask("bh", p, stats.false_discovery_control(p))


def trends():
    for n, levels in ((2, 0), (3, 0), (12, 0), (60, 0), (300, 0), (60, 5), (40, 2)):
        x = rng.normal(size=n)
        y = .3 * x + rng.standard_t(2, size=n)
        if levels:
            x, y = rng.integers(levels, size=n).astype(float), rng.integers(3, size=n).astype(float)
        found = stats.theilslopes(y, x)
        ask("theilsen", [n, *x, *y], [found.slope, found.low_slope, found.high_slope])
        line = stats.linregress(x, y)
        ask("line", [n, *x, *y], [line.slope, line.intercept, line.rvalue])


def median_bounds(km):
    """Times at which the log-log bounds cross one half."""
    z = stats.norm.ppf(.975)
    low = high = np.nan
    for t, s, v in km:
        if 0 < s < 1:
            spread = z * np.sqrt(v) / (s * abs(np.log(s)))
            lower, upper = s ** np.exp(spread), s ** np.exp(-spread)
        else:
            lower = upper = 0
        low = t if np.isnan(low) and lower <= .5 else low
        high = t if np.isnan(high) and upper <= .5 else high
    return low, high


def survival():
    for n in (1, 5, 40, 400):
        times, events = rng.integers(1, 30, size=n), rng.uniform(size=n) < .7
        data = stats.CensoredData(uncensored=times[events], right=times[~events])
        curve = stats.ecdf(data).sf
        km = []
        greenwood = 0
        for t in np.unique(times[events]):
            risk, died = (times >= t).sum(), ((times == t) & events).sum()
            greenwood += died / (risk * (risk - died)) if died < risk else 0
            s = curve.evaluate(t)
            km.append((t, s, s * s * greenwood))
        median = next((t for t, s, _ in km if s <= .5 + 1e-12), np.nan)
        ask("km", [n, *times, *events], [median, *median_bounds(km), *np.ravel(km)])


def tails():
    for n, share in ((100, .05), (1000, .05), (1000, .01), (37, .2)):
        x = rng.pareto(1.7, size=n) + 1
        ordered = np.sort(x)[::-1]
        k = int(share * n)
        alpha = 1 / np.mean(np.log(ordered[:k] / ordered[k]))
        reach = alpha * stats.norm.ppf(.975) / np.sqrt(k)
        ask("hill", [share, *x], [alpha, max(0, alpha - reach), alpha + reach])


def roc():
    """Area by Mann–Whitney, precision by its definition, Obuchowski's variance by double sums."""
    for n, clusters, levels in ((30, 10, 0), (200, 20, 0), (200, 20, 6), (60, 60, 3)):
        label = rng.uniform(size=n) < .3
        label[:2] = [True, False]
        score = rng.normal(size=n) + label
        if levels:
            score = np.round(score * levels / 4)
        owner = rng.integers(clusters, size=n)
        u = stats.mannwhitneyu(score[label], score[~label]).statistic
        m, k = label.sum(), (~label).sum()
        area = u / (m * k)
        precision, before = 0, 0
        for threshold in np.unique(score)[::-1]:
            taken = score >= threshold
            recall = (taken & label).sum() / m
            precision += (recall - before) * (taken & label).sum() / taken.sum()
            before = recall
        wins = (score[label][:, None] > score[~label]) + .5 * (score[label][:, None] == score[~label])
        up, down = wins.mean(1), wins.mean(0)
        s10 = s01 = s11 = 0
        for c in np.unique(owner):
            a = (up[owner[label] == c] - area).sum()
            b = (down[owner[~label] == c] - area).sum()
            s10, s01, s11 = s10 + a * a, s01 + b * b, s11 + a * b
        i, i10, i01 = (len(np.unique(o)) for o in (owner, owner[label], owner[~label]))
        variance = i10 / (i10 - 1) * s10 / m**2 + i01 / (i01 - 1) * s01 / k**2 + 2 * i / (i - 1) * s11 / (m * k)
        reach = stats.norm.ppf(.975) * np.sqrt(variance)
        ask("roc", [n, *score, *label, *owner], [area, precision, max(0, area - reach), min(1, area + reach)])


def main():
    for part in (proportions, several, trends, survival, tails, roc):
        part()
    done = subprocess.run([sys.argv[1]], input="\n".join(requests) + "\n", capture_output=True, text=True, check=True)
    wrong = 0
    for request, (answer, relative), line in zip(requests, wanted, done.stdout.splitlines(), strict=True):
        got = np.array(line.split(), float)
        if got.shape != answer.shape or not np.allclose(got, answer, rtol=relative, atol=1e-15, equal_nan=True):
            wrong += 1
            print(f"{request[:70]}: {got}, expected {answer}")
    print(f"{len(requests)} requests, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
