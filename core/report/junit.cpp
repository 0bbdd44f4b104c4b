// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/junit.h"

#include "core/report/families.h"
#include "core/report/first_kinds.h"
#include "core/report/markup.h"
#include "core/report/not_comparable.h"
#include "core/report/number.h"

#include <utility>

namespace moire::report {

namespace {

/// What XML 1.0 does not allow, escaped() makes visible.
std::string xml(std::string_view bytes)
{
    return escaped(bytes);
}

enum class Outcome
{
    Passed,
    Failed,
    Skipped,
    Broken ///< nothing could be tested
};

/// Cases as they come, and how many of each outcome.
class Suite
{
public:
    /// `detail` is XML already.
    void add(std::string_view group, const std::string& name, Outcome outcome,
             const std::string& message, const std::string& detail = {})
    {
        ++m_cases;
        m_body += "    <testcase classname=\"moire." + xml(group) + "\" name=\"" + xml(name)
                  + "\" time=\"0\"";
        if (outcome == Outcome::Passed) {
            m_body += "/>\n";
            return;
        }
        const bool failed = outcome == Outcome::Failed;
        const bool broken = outcome == Outcome::Broken;
        ++(failed ? m_failed : broken ? m_broken : m_skipped);
        m_body += failed   ? ">\n      <failure type=\"divergence\" message=\""
                  : broken ? ">\n      <error type=\"not comparable\" message=\""
                           : ">\n      <skipped message=\"";
        m_body += xml(message) + '"';
        m_body += failed && !detail.empty() ? '>' + detail + "</failure>" : std::string("/>");
        m_body += "\n    </testcase>\n";
    }
    std::string counts() const
    {
        return "tests=\"" + std::to_string(m_cases) + "\" failures=\"" + std::to_string(m_failed)
               + "\" errors=\"" + std::to_string(m_broken) + '"';
    }
    std::string skipped() const { return " skipped=\"" + std::to_string(m_skipped) + '"'; }
    const std::string& body() const { return m_body; }

private:
    std::string m_body;
    std::size_t m_cases = 0, m_failed = 0, m_skipped = 0, m_broken = 0;
};

std::string firstWords(const FirstKind& kind, const diff::Divergence& found)
{
    return siteText(found) + ": "
           + sideText(kind, found.referenceValue, found.referenceBits, found.referenceType) + " → "
           + sideText(kind, found.targetValue, found.targetBits, found.targetType)
           + (found.note.empty() ? std::string() : ", " + found.note);
}

void addCriteria(Suite& suite, const diff::Report& report)
{
    for (const diff::CriterionOutcome& outcome : report.tolerance) {
        const std::string name = outcome.pattern + ": " + outcome.criterion;
        std::string message = grouped(outcome.failed) + " of " + grouped(outcome.checked) + " fail";
        if (outcome.undecided > 0)
            message += ", " + grouped(outcome.undecided) + " undecided";
        if (outcome.worst)
            message += "; worst " + figure(*outcome.worst);
        if (!outcome.at.empty())
            message += " at " + outcome.at;
        const bool failed = (outcome.failed > 0 || outcome.undecided > 0) && report.exit != 0;
        suite.add("tolerance", name,
                  failed                 ? Outcome::Failed
                  : outcome.checked == 0 ? Outcome::Skipped
                                         : Outcome::Passed,
                  outcome.checked == 0 ? "nothing to check" : message);
    }
}

void addTaps(Suite& suite, const diff::Report& report)
{
    for (const diff::TapReport& tap : report.taps) {
        const diff::Measure* equal = findIn(tap.measures, "A6");
        if (equal == nullptr || !equal->value)
            equal = findIn(tap.measures, "A1");
        constexpr double all = 100;
        if (equal == nullptr || !equal->value) {
            suite.add("bitwise", tap.name, Outcome::Skipped,
                      equal == nullptr ? "not compared" : equal->whyNull);
            continue;
        }
        const bool failed = *equal->value != all && report.exit != 0;
        suite.add("bitwise", tap.name, failed ? Outcome::Failed : Outcome::Passed,
                  valueIn(tap.measures, "A1") + " of bits equal, relative L2 "
                      + valueIn(tap.measures, "B4") + ", max |Δ| " + valueIn(tap.measures, "B2"));
    }
}

void addKinds(Suite& suite, const diff::Report& report)
{
    for (const FirstKind& kind : firstKinds) {
        if (kind.key == "tolerance" || kind.key == "bitwise" || kind.key == "floor")
            continue; // these have cases of their own, or do not decide
        const auto& found = report.first.*kind.member;
        const bool failed = found && report.exit != 0;
        suite.add("first", std::string(kind.words), failed ? Outcome::Failed : Outcome::Passed,
                  found ? firstWords(kind, *found) : std::string());
    }
}

std::string property(std::string_view name, std::string_view value)
{
    return "      <property name=\"" + xml(name) + "\" value=\"" + xml(value) + "\"/>\n";
}

} // namespace

std::string junitText(const diff::Report& report)
{
    Suite suite;
    std::string detail = xml(report.cause);
    for (const FirstKind& kind : firstKinds)
        if (const auto& found = report.first.*kind.member)
            detail += (detail.empty() ? "" : "\n")
                      + xml(std::string(kind.words) + ": " + firstWords(kind, *found));
    suite.add("verdict", "no divergence",
              report.exit == 0               ? Outcome::Passed
              : report.exit == notComparable ? Outcome::Broken
                                             : Outcome::Failed,
              report.verdict, detail);
    if (report.exit == notComparable) {
        // Nothing else was looked at.
    } else if (hasTolerance(report)) {
        addCriteria(suite, report);
    } else {
        addTaps(suite, report);
        addKinds(suite, report);
    }
    const std::string name = report.reference.file + " – " + report.target.file;
    std::string text =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"moire-diff\" "
        + suite.counts() + " time=\"0\">\n";
    text += "  <testsuite name=\"" + xml(name) + "\" " + suite.counts() + suite.skipped()
            + " time=\"0\">\n    <properties>\n";
    text += property("reference", report.reference.file) + property("target", report.target.file)
            + property("exit", std::to_string(report.exit));
    for (const diff::EnvironmentDifference& difference : report.environmentDifferences)
        text +=
            property("differs." + difference.key, difference.reference + " → " + difference.target);
    return text + "    </properties>\n" + suite.body() + "    <system-out>" + xml(report.verdict)
           + "</system-out>\n  </testsuite>\n</testsuites>\n";
}

} // namespace moire::report
