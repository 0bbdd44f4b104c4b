// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/token_strip.h"

#include "core/report/markup.h"
#include "core/report/number.h"
#include "core/report/palette.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace moire::report {

namespace {

constexpr std::size_t before = 12;
constexpr std::size_t after = 16;
// Forward KL a token: from near the noise floor of equal arithmetic to what nobody would overlook.
constexpr double leastKl = 1e-7, mostKl = 1;

/// What is known of a position of the sample.
struct Cell
{
    std::size_t colour = cellAbsent;
    std::string words;
};

double worstRelative(const diff::Report& report, std::size_t pair, bool& differs)
{
    double worst = 0;
    for (std::size_t tap = 0; tap < report.tapPairs.size(); ++tap) {
        const diff::Site& site = report.site(pair, tap);
        if (site.state != diff::Site::State::Different)
            continue;
        differs = true;
        const double relative = site.relativeL2();
        if (site.valuesCompared && !(relative <= worst))
            worst = std::isnan(relative) ? std::numeric_limits<double>::infinity() : relative;
    }
    return worst;
}

Cell cellOf(const diff::Report& report, std::size_t pair)
{
    const LogScale scale(leastKl, mostKl);
    if (pair < report.logits.size() && report.logits[pair].compared) {
        const double kl = report.logits[pair].forwardKl;
        return {kl == 0 ? std::size_t{cellEqual} : cellScale + scale.levelOf(kl),
                "KL " + figureWithUnit(kl, "nats")};
    }
    bool differs = false;
    const double worst = worstRelative(report, pair, differs);
    if (!differs)
        return {cellEqual, "equal"};
    if (worst == 0)
        return {cellUnmeasured, "bits differ"};
    return {cellScale + scale.levelOf(worst), "relative L2 " + figure(worst)};
}

std::map<std::uint32_t, Cell> cellsOf(const diff::Report& report, trace::SampleIndex sample)
{
    std::map<std::uint32_t, Cell> cells;
    for (std::size_t pair = 0; pair < report.rows.size(); ++pair)
        if (report.rows[pair].sample == sample)
            cells.emplace(report.rows[pair].position, cellOf(report, pair));
    return cells;
}

std::string strip(std::span<const trace::Token> tokens, std::size_t begin, std::size_t end,
                  const std::map<std::uint32_t, Cell>& cells, std::uint32_t at)
{
    std::string out;
    for (std::size_t i = begin; i < end; ++i) {
        const auto position = static_cast<std::uint32_t>(i);
        if (i >= tokens.size()) {
            out += "<td class=\"gap\"></td>";
            continue;
        }
        const auto cell = cells.find(position);
        const bool known = cell != cells.end();
        const trace::Token& token = tokens[i];
        const std::string text = token.bytes.empty() ? "&lt;" + std::to_string(token.id) + "&gt;"
                                                     : tokenMarkup(token.bytes);
        out += "<td class=\"token "
               + (known ? 'c' + std::to_string(cell->second.colour) : "hatched")
               + (position == at ? " here" : "") + "\" title=\"position " + std::to_string(i)
               + ", id " + std::to_string(token.id) + ", "
               + (tokenTitle(token.bytes) == text || token.bytes.empty()
                      ? std::string()
                      : "“" + tokenTitle(token.bytes) + "”, ")
               + (known ? cell->second.words : "no row compared") + "\">" + text + "</td>";
    }
    return out;
}

} // namespace

std::string tokenStrip(const diff::Report& report, const trace::Run& reference,
                       const trace::Run& target, const diff::Divergence& divergence)
{
    if (divergence.row >= reference.rowCount() || divergence.targetRow >= target.rowCount())
        return {};
    // By row, not by id, which repeats of one sample share.
    const trace::SampleIndex sample = reference.row(divergence.row).sample;
    const auto referenceTokens = reference.tokens(sample);
    const auto targetTokens = target.tokens(target.row(divergence.targetRow).sample);
    const std::size_t at = divergence.position;
    const std::size_t begin = at > before ? at - before : 0;
    const std::size_t end =
        std::min(at + after, std::max(referenceTokens.size(), targetTokens.size()));
    const auto cells = cellsOf(report, sample);
    std::string positions;
    for (std::size_t i = begin; i < end; ++i)
        positions += "<td>" + std::to_string(i) + "</td>";
    return "<div class=\"scroll\"><table class=\"strip\"><tbody>\n"
           "<tr class=\"places\"><th scope=\"row\">position</th>"
           + positions + "</tr>\n<tr><th scope=\"row\" class=\"reference\">Reference</th>"
           + strip(referenceTokens, begin, end, cells, divergence.position)
           + "</tr>\n<tr><th scope=\"row\" class=\"target\">Target</th>"
           + strip(targetTokens, begin, end, cells, divergence.position)
           + "</tr>\n</tbody></table></div>\n";
}

} // namespace moire::report
