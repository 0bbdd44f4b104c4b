// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/study_verdicts.h"

#include <algorithm>

namespace moire::diff {

void addDisagreement(std::size_t baseline, StudyReport& report)
{
    std::vector<const StudyRow*> rows;
    for (const StudyRow& row : report.rows)
        if (!row.reductions.empty()) {
            rows.push_back(&row);
            report.reduced.push_back(row.id);
        }
    const auto excludesZero = [](const Estimate& e) {
        return e.interval && (e.interval->low > 0 || e.interval->high < 0);
    };
    report.disagreement.assign(rows.size(), std::vector<Disagreement>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t j = 0; j < rows.size(); ++j)
            for (std::size_t t = 0; t < report.targets.size(); ++t) {
                const Estimate& a = rows[i]->reductions[t];
                const Estimate& b = rows[j]->reductions[t];
                if (t == baseline || !a.value || !b.value)
                    continue;
                Disagreement& cell = report.disagreement[i][j];
                ++cell.compared;
                if (*a.value * *b.value >= 0)
                    continue;
                ++cell.signs;
                cell.certain += excludesZero(a) && excludesZero(b) ? 1 : 0;
            }
}

void addParetoFront(StudyReport& report)
{
    const auto kl = std::find_if(report.rows.begin(), report.rows.end(),
                                 [](const StudyRow& row) { return row.id == "C1"; });
    if (kl == report.rows.end())
        return;
    const auto known = [&](std::size_t t) { return report.cost[t] && kl->values[t].value; };
    const auto beats = [&](std::size_t a, std::size_t b) {
        const bool noWorse =
            *report.cost[a] <= *report.cost[b] && *kl->values[a].value <= *kl->values[b].value;
        return noWorse
               && (*report.cost[a] < *report.cost[b]
                   || *kl->values[a].value < *kl->values[b].value);
    };
    for (std::size_t t = 0; t < report.targets.size(); ++t) {
        bool beaten = !known(t);
        for (std::size_t other = 0; other < report.targets.size() && !beaten; ++other)
            beaten = known(other) && beats(other, t);
        if (!beaten)
            report.paretoFront.push_back(t);
    }
    std::stable_sort(
        report.paretoFront.begin(), report.paretoFront.end(),
        [&](std::size_t a, std::size_t b) { return *report.cost[a] < *report.cost[b]; });
}

} // namespace moire::diff
