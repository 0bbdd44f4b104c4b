// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/first_kinds.h"

#include "core/report/number.h"

namespace moire::report {

std::string_view outcomeWord(const diff::CriterionOutcome& outcome)
{
    if (outcome.failed > 0)
        return "FAILS";
    if (outcome.undecided > 0)
        return "open";
    return outcome.checked == 0 ? "nothing to check" : "holds";
}

std::string_view absentText(const FirstKind& kind, const diff::Report& report)
{
    if (kind.key == "tolerance" && !hasTolerance(report))
        return "not asked: give --tolerance or --criterion";
    if (kind.key == "floor" && report.noiseFloor.empty())
        return "not known: give a repeat of the reference with --repeat";
    return "none";
}

std::string sampleText(const diff::SampleReport& sample)
{
    return sample.repeat == 0 ? sample.id : sample.id + '#' + std::to_string(sample.repeat);
}

std::string originText(const diff::Divergence& divergence)
{
    const std::string origin(diff::nameOf(divergence.origin));
    return divergence.note.empty() ? origin : origin + "; " + divergence.note;
}

std::string siteText(const diff::Divergence& divergence)
{
    std::string text = divergence.sample + '/' + std::to_string(divergence.position);
    if (!divergence.tap.empty())
        text += '/' + divergence.tap;
    if (divergence.element)
        text += '/' + std::to_string(*divergence.element);
    return text;
}

std::string sideText(const FirstKind& kind, const std::optional<double>& value,
                     const std::optional<std::uint64_t>& bits, numeric::DType dtype)
{
    if (!value)
        return "–";
    if (holdsIds(kind))
        return shortest(*value);
    std::string text = valueText(*value, dtype);
    if (bits)
        text += ' ' + bitsText(*bits, dtype);
    return text;
}

} // namespace moire::report
