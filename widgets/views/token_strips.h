// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/plot/colour_scale.h"
#include "widgets/views/heat_source.h"

#include <QWidget>

namespace moire::widgets {

/// Where the tokens of both rows stand: one column per position, as wide as the wider of the two,
/// so that equal positions lie over each other.
class StripLayout
{
public:
    StripLayout() = default;
    StripLayout(const SampleEntry& sample, const QFontMetrics& metrics);

    int width() const { return m_edges.empty() ? 0 : m_edges.back(); }
    std::size_t columns() const { return m_edges.empty() ? 0 : m_edges.size() - 1; }
    int left(std::size_t column) const { return m_edges[column]; }
    int right(std::size_t column) const { return m_edges[column + 1]; } ///< half-open
    /// The column at a distance from the start; columns() behind the end.
    std::size_t columnAt(int x) const;
    /// The offset nearest to `offset` at which the column is in view with a margin.
    int offsetShowing(std::size_t column, int offset, int viewWidth) const;

private:
    std::vector<int> m_edges;
};

/// Both rows of tokens of the cursor's sample, coloured by the chosen measure; both scroll as one
/// and keep the cursor's token in view.
class TokenStrips : public QWidget
{
    Q_OBJECT
public:
    TokenStrips(const Look& look, Cursor& cursor, HeatSource& source, QWidget* parent = nullptr);
    QSize sizeHint() const override;
    /// Width of the column of names at the left, the same as the heat map's.
    static constexpr int gutter = 80;
    /// Brings the cursor's token into view.
    void follow();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool event(QEvent* event) override;

private:
    void refresh();
    void paintRow(QPainter& painter, bool target) const;
    void paintToken(QPainter& painter, const QRect& rect, const TokenCell& token,
                    std::size_t column, const QColor& edge) const;
    std::size_t columnAt(const QPoint& point) const;
    int viewWidth() const;

    const Look& m_look;
    Cursor& m_cursor;
    HeatSource& m_source;
    StripLayout m_layout;
    ColourScale m_scale;
    Hatch m_hatch;
    std::vector<float> m_cells;
    const SampleEntry* m_sample = nullptr; ///< of m_compared
    ComparedPointer m_compared;
    int m_offset = 0;
};

} // namespace moire::widgets
