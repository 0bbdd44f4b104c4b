// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/not_comparable.h"

#include "core/diff/report_parts.h"

namespace moire::report {

diff::Report notComparableReport(const trace::Run& reference, const trace::Run& target,
                                 const Error& why)
{
    diff::Report report;
    report.exit = notComparable;
    // Without the place: it is the two files, which the report names anyway.
    report.verdict = "Not comparable: " + Error{why.code, why.sentence, {}, why.hint}.text();
    report.reference = diff::summaryOf(reference);
    report.target = diff::summaryOf(target);
    report.environmentDifferences =
        diff::environmentDifferences(reference.header().environment, target.header().environment);
    return report;
}

} // namespace moire::report
