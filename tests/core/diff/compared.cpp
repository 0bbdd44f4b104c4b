// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/core/diff/compared.h"

#include <QtGlobal>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace moire::diff::test {

Report compared(const PlainRun& reference, const PlainRun& target, unsigned threads,
                const ComparisonOptions& options, const AlignmentOptions& alignment)
{
    base::Progress progress;
    auto report = compare(reference.build("reference"), target.build("target"), alignment, options,
                          threads, {}, progress);
    if (!report)
        qFatal("%s", report.error().text().c_str());
    return *report;
}

const Measure& measureOf(const std::vector<Measure>& measures, std::string_view id)
{
    const auto at = std::find_if(measures.begin(), measures.end(),
                                 [id](const Measure& m) { return m.id == id; });
    if (at == measures.end())
        qFatal("no measure %s", std::string(id).c_str());
    return *at;
}

std::string mismatch(const Measure& measure, long double value, double relative)
{
    std::ostringstream text;
    text.precision(17);
    if (!measure.value)
        text << measure.id << ": " << measure.whyNull;
    else if (!(std::fabs(*measure.value - static_cast<double>(value))
               <= relative * std::fabs(static_cast<double>(value))))
        text << measure.id << ": " << *measure.value << " is not " << static_cast<double>(value);
    return text.str();
}

} // namespace moire::diff::test
