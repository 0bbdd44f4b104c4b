// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/core/diff/report_dump.h"

#include <sstream>

namespace moire::diff::test {

namespace {

void write(std::ostream& out, const Measure& m)
{
    out << m.id << '|' << m.name << '|' << m.family << '|' << m.unit << '|';
    if (m.value)
        out << *m.value;
    out << "|n=" << m.n << '|' << m.at << '|' << m.whyNull << '|';
    for (const auto& [key, value] : m.parameters)
        out << key << '=' << value << ' ';
    for (const auto& [key, value] : m.percentiles)
        out << 'p' << key << '=' << value << ' ';
    for (const auto& value : m.byPosition)
        out << (value ? *value : -1.0) << ',';
    for (const auto& [key, value] : m.byLayer)
        out << 'L' << key << '=' << value << ' ';
    for (const auto& [key, value] : m.byGroup)
        out << key << '=' << value << ' ';
    for (const auto& row : m.matrix)
        for (const auto count : row)
            out << count << ' ';
    out << '\n';
}

void writeGrid(std::ostream& out, const Report& report)
{
    for (const Site& s : report.sites)
        out << static_cast<int>(s.state) << s.valuesCompared << ' ' << s.elements << ' '
            << s.unequal << ' ' << s.maxUlp << ' ' << s.classChanges << ' ' << s.worstElement << ' '
            << s.maxAbs << ' ' << s.sumAbs << ' ' << s.sumSquares << ' ' << s.referenceSquares
            << ' ' << s.targetSquares << ' ' << s.dot << ' ' << s.sumUlp << ' ' << s.finite << '\n';
    for (const LogitsRow& l : report.logits) {
        out << l.compared << ' ' << l.forwardKl << ' ' << l.reverseKl << ' ' << l.totalVariation
            << ' ' << l.referenceTop << ' ' << l.targetTop << ' ' << l.referenceMargin << ' '
            << l.targetMargin << ' ' << int{l.setEqual} << ' ' << int{l.orderEqual} << ' '
            << int{l.known};
        for (const auto overlap : l.overlap)
            out << ' ' << int{overlap};
        out << '\n';
    }
    for (const RouteCell& r : report.routes)
        out << int{r.chosen} << ' ' << int{r.replaced} << ' ' << r.orderEqual << ' '
            << r.referenceMargin << ' ' << r.targetMargin << '\n';
}

} // namespace

std::string line(const std::optional<Divergence>& divergence)
{
    if (!divergence)
        return "none";
    const Divergence& d = *divergence;
    std::ostringstream out;
    out << d.sample << '/' << d.position << '/' << d.tap;
    if (d.element)
        out << '/' << *d.element;
    const auto side = [&out](const std::optional<double>& value,
                             const std::optional<std::uint64_t>& bits) {
        if (value)
            out << ' ' << *value;
        if (bits)
            out << " (0x" << std::hex << *bits << std::dec << ')';
    };
    side(d.referenceValue, d.referenceBits);
    side(d.targetValue, d.targetBits);
    if (d.ulps)
        out << ' ' << *d.ulps << " ulp";
    out << ' ' << nameOf(d.origin);
    if (!d.note.empty())
        out << " [" << d.note << ']';
    return out.str();
}

std::string dump(const Report& report)
{
    std::ostringstream out;
    out << std::hexfloat << report.verdict << '\n' << report.exit << '\n';
    const FirstDivergences& f = report.first;
    for (const auto* d : {&f.bitwise, &f.tolerance, &f.floor, &f.topK, &f.experts, &f.argmax,
                          &f.token, &f.nonFinite})
        out << line(*d) << '\n';
    const AlignmentSummary& a = report.alignment;
    out << a.samples << ' ' << a.rows << ' ' << a.taps << ' ' << a.rowsOnlyReference << ' '
        << a.rowsOnlyTarget << ' ' << a.rowsNotComparableReference << ' '
        << a.rowsNotComparableTarget << '\n';
    for (const std::string& remark : a.remarks)
        out << remark << '\n';
    for (const Measure& measure : report.measures)
        write(out, measure);
    for (const TapReport& tap : report.taps) {
        out << tap.name << ' ' << tap.rows << ' ' << tap.elements << '\n';
        for (const Measure& measure : tap.measures)
            write(out, measure);
    }
    for (const SampleReport& sample : report.samples) {
        out << sample.id << ' ' << sample.rowsCompared << ' '
            << sample.firstBitwise.value_or(999999) << ' ' << sample.firstArgmax.value_or(999999)
            << ' ' << sample.split.value_or(999999) << ' ' << sample.notComparable << '\n';
        for (const Measure& measure : sample.measures)
            write(out, measure);
    }
    writeGrid(out, report);
    return out.str();
}

} // namespace moire::diff::test
