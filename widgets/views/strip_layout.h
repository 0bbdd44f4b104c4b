// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/models/compared.h"

#include <QFontMetrics>
#include <QHash>

#include <cstdint>
#include <vector>

namespace moire::widgets {

/// Two tokens over each other in the strips; −1: a gap on that side.
struct StripSlot
{
    std::int32_t reference = -1;
    std::int32_t target = -1;
    bool realigned = false; ///< found to be equal again behind the place where the texts part
};

/// Position under position up to the place where the texts part; behind it as the comparison has
/// aligned them again, with gaps where one side has more tokens.
std::vector<StripSlot> stripSlots(const SampleEntry& sample);

/// Widths of texts in one font, in pixels, each measured once: laying out text is dear, and tokens
/// come again and again.
class TextWidths
{
public:
    TextWidths(const QFontMetrics& metrics)
        : m_metrics(metrics)
    {}
    int of(const QString& text) const;

private:
    QFontMetrics m_metrics;
    mutable QHash<QString, int> m_known;
};

/// Where the tokens of both rows stand: one slot as wide as the wider of its two tokens and at
/// least as wide as the heat map's columns, so that narrow tokens stand over their columns.
class StripLayout
{
public:
    StripLayout() = default;
    StripLayout(const SampleEntry& sample, const TextWidths& widths);

    void setLeastWidth(double pixels);
    static constexpr int padding = 4; ///< at both sides of a token's text
    static constexpr int spacing = 2; ///< between tokens, part of a slot's width

    int width() const { return m_edges.empty() ? 0 : m_edges.back(); }
    std::size_t size() const { return m_slots.size(); }
    const StripSlot& slot(std::size_t i) const { return m_slots[i]; }
    int left(std::size_t slot) const { return m_edges[slot]; }
    int right(std::size_t slot) const { return m_edges[slot + 1]; } ///< half-open
    /// The slot at a distance from the start; size() behind the end.
    std::size_t slotAt(int x) const;
    /// The slot that holds a token position, the reference's first; size() when none does.
    std::size_t slotOf(std::size_t column) const;
    /// The token position that a slot stands for.
    std::size_t columnOf(std::size_t slot) const;
    /// The offset nearest to `offset` at which the column's slot is in view with a margin.
    int offsetShowing(std::size_t column, int offset, int viewWidth) const;
    /// The offset at which the middle of the column's slot stands at `x` of the view, as far as
    /// the strip's ends allow.
    int offsetAligning(std::size_t column, double x, int viewWidth) const;

private:
    std::vector<StripSlot> m_slots;
    std::vector<int> m_natural; ///< width of each slot
    std::vector<int> m_edges;
    std::vector<std::size_t> m_slotOfColumn;
};

} // namespace moire::widgets
