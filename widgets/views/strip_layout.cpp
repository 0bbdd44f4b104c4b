// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/strip_layout.h"

#include <algorithm>
#include <cmath>

namespace moire::widgets {

namespace {

constexpr int leastWidth = 16;
constexpr int longestToken = 240; // pixels; longer ones are elided
constexpr int followMargin = 96;  // so much of the context stays in view beside the cursor

} // namespace

std::vector<StripSlot> stripSlots(const SampleEntry& sample)
{
    const auto references = static_cast<std::int32_t>(sample.referenceTokens.size());
    const auto targets = static_cast<std::int32_t>(sample.targetTokens.size());
    std::vector<StripSlot> slots;
    std::int32_t reference = 0;
    std::int32_t target = 0;
    const auto fillTo = [&](std::int32_t toReference, std::int32_t toTarget, bool realigned) {
        while (reference < toReference || target < toTarget) {
            StripSlot slot;
            slot.reference = reference < toReference ? reference++ : -1;
            slot.target = target < toTarget ? target++ : -1;
            slot.realigned = realigned && slot.reference >= 0 && slot.target >= 0;
            slots.push_back(slot);
        }
    };
    // Without blocks, or before the texts part, equal positions stand for each other.
    const auto common = static_cast<std::int32_t>(
        std::min<std::size_t>(sample.split.value_or(sample.columns()), sample.columns()));
    fillTo(std::min(common, references), std::min(common, targets), false);
    for (const diff::TokenBlock& block : sample.blocks) {
        const auto begin = static_cast<std::int32_t>(block.referenceBegin);
        const auto targetBegin = static_cast<std::int32_t>(block.targetBegin);
        if (begin < reference || targetBegin < target)
            continue; // the part before the split
        fillTo(std::min(begin, references), std::min(targetBegin, targets), false);
        fillTo(std::min(begin + static_cast<std::int32_t>(block.referenceLength), references),
               std::min(targetBegin + static_cast<std::int32_t>(block.targetLength), targets),
               true);
    }
    fillTo(references, targets, false);
    return slots;
}

int TextWidths::of(const QString& text) const
{
    auto known = m_known.constFind(text);
    if (known == m_known.constEnd())
        known = m_known.insert(text, m_metrics.horizontalAdvance(text));
    return *known;
}

StripLayout::StripLayout(const SampleEntry& sample, const TextWidths& widths)
    : m_slots(stripSlots(sample))
    , m_slotOfColumn(sample.columns(), m_slots.size())
{
    const auto widthOf = [&widths](const std::vector<TokenCell>& tokens, std::int32_t token) {
        return token >= 0 ? widths.of(tokens[static_cast<std::size_t>(token)].text) : 0;
    };
    m_natural.reserve(m_slots.size());
    for (std::size_t i = 0; i < m_slots.size(); ++i) {
        const int text = std::max(widthOf(sample.referenceTokens, m_slots[i].reference),
                                  widthOf(sample.targetTokens, m_slots[i].target));
        m_natural.push_back(std::clamp(text + 2 * padding, leastWidth, longestToken) + spacing);
        std::size_t& place = m_slotOfColumn[std::min(columnOf(i), m_slotOfColumn.size() - 1)];
        if (place == m_slots.size() || m_slots[i].reference >= 0)
            place = i;
    }
    setLeastWidth(0);
}

void StripLayout::setLeastWidth(double pixels)
{
    double edge = 0;
    m_edges.assign(1, 0);
    for (const int natural : m_natural) {
        edge += std::max(static_cast<double>(natural), pixels);
        m_edges.push_back(static_cast<int>(std::lround(edge)));
    }
}

std::size_t StripLayout::slotAt(int x) const
{
    if (x < 0)
        return size();
    const auto after = std::upper_bound(m_edges.begin(), m_edges.end(), x);
    return after == m_edges.end() ? size() : static_cast<std::size_t>(after - m_edges.begin()) - 1;
}

std::size_t StripLayout::slotOf(std::size_t column) const
{
    return column < m_slotOfColumn.size() ? m_slotOfColumn[column] : size();
}

std::size_t StripLayout::columnOf(std::size_t slot) const
{
    const StripSlot& pair = m_slots[slot];
    return static_cast<std::size_t>(pair.reference >= 0 ? pair.reference : pair.target);
}

int StripLayout::offsetShowing(std::size_t column, int offset, int viewWidth) const
{
    const std::size_t slot = slotOf(column);
    if (slot >= size())
        return offset;
    const int margin = std::min(followMargin, viewWidth / 4);
    if (right(slot) + margin > offset + viewWidth)
        offset = right(slot) + margin - viewWidth;
    if (left(slot) - margin < offset)
        offset = left(slot) - margin;
    return std::clamp(offset, 0, std::max(0, width() - viewWidth));
}

int StripLayout::offsetAligning(std::size_t column, double x, int viewWidth) const
{
    const std::size_t slot = slotOf(column);
    if (slot >= size())
        return 0;
    const double middle = (left(slot) + right(slot)) / 2.0;
    // Whole tokens only: at the ends of the view it stands beside its column.
    const int least = std::min(right(slot) - viewWidth, left(slot));
    const int offset = std::clamp(static_cast<int>(std::lround(middle - x)), least, left(slot));
    return std::clamp(offset, 0, std::max(0, width() - viewWidth));
}

} // namespace moire::widgets
