// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/first_kinds.h"

#include "core/report/not_comparable.h"
#include "core/report/number.h"

#include <algorithm>
#include <map>

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
    if (report.exit == notComparable)
        return "not comparable";
    if (kind.key == "tolerance" && !hasTolerance(report))
        return "not asked: give --tolerance or --criterion";
    if (kind.key == "floor" && report.noiseFloor.empty())
        return "not known: give a repeat of the reference with --repeat";
    return "none";
}

std::vector<std::string> sampleTexts(const diff::Report& report)
{
    std::map<std::string_view, std::vector<std::uint32_t>> repeats; // seen of each id
    std::vector<std::string> texts;
    texts.reserve(report.samples.size());
    for (const diff::SampleReport& sample : report.samples) {
        auto& seen = repeats[sample.id];
        const bool again = std::find(seen.begin(), seen.end(), sample.repeat) != seen.end();
        const std::size_t number = again ? seen.size() : sample.repeat;
        texts.push_back(number == 0 ? sample.id : sample.id + '#' + std::to_string(number));
        seen.push_back(sample.repeat);
    }
    return texts;
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
    return bits ? elementText(*bits, dtype) + ' ' + bitsText(*bits, dtype)
                : valueText(*value, dtype);
}

} // namespace moire::report
