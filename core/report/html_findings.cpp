// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/html_findings.h"

#include "core/report/first_kinds.h"
#include "core/report/markup.h"
#include "core/report/number.h"

namespace moire::report {

std::string causeSection(const diff::Report& report)
{
    if (report.cause.empty())
        return {};
    std::string items;
    for (const diff::CauseFinding& finding : report.causeFindings) {
        std::string facts;
        for (const std::string& fact : finding.evidence)
            facts += element("li", escaped(fact));
        items += element("dt", escaped(finding.rule))
                 + element("dd", element("p", escaped(finding.sentence))
                                     + (facts.empty() ? facts : element("ul", "facts", facts)))
                 + '\n';
    }
    return section("cause", "Cause", {},
                   element("p", "lead", escaped(report.cause)) + '\n'
                       + (items.empty() ? items : "<dl>\n" + items + "</dl>\n"));
}

std::string toleranceSection(const diff::Report& report)
{
    if (!hasTolerance(report))
        return {};
    using Kind = Column::Kind;
    MarkupTable table("Criteria of the tolerance and what they met", {{"taps", Kind::Code},
                                                                      {"criterion", Kind::Code},
                                                                      {"outcome"},
                                                                      {"failed", Kind::Number},
                                                                      {"undecided", Kind::Number},
                                                                      {"checked", Kind::Number},
                                                                      {"worst", Kind::Number},
                                                                      {"at", Kind::Code}});
    for (const diff::CriterionOutcome& outcome : report.tolerance) {
        std::string verdict(outcomeWord(outcome));
        if (outcome.failed > 0 || outcome.undecided > 0)
            verdict = element("span", "differs", "◆ " + verdict);
        table.add({escaped(outcome.pattern), escaped(outcome.criterion), verdict,
                   grouped(outcome.failed), grouped(outcome.undecided), grouped(outcome.checked),
                   outcome.worst ? figure(*outcome.worst) : std::string("–"), escaped(outcome.at)});
    }
    const std::string profile = report.toleranceProfile.empty()
                                    ? std::string("Criteria of the command line.")
                                    : "Profile " + escaped(report.toleranceProfile) + ".";
    return section("tolerance", "Tolerance",
                   profile + " A tap is judged by the first pattern that it matches.",
                   table.markup());
}

} // namespace moire::report
