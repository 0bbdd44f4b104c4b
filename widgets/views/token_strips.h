// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/plot/colour_scale.h"
#include "widgets/views/heat_canvas.h"
#include "widgets/views/heat_source.h"
#include "widgets/views/strip_layout.h"

#include <QWidget>

namespace moire::widgets {

/// Both rows of tokens of the cursor's sample, coloured by the chosen measure; both scroll as one.
/// The cursor's token stands over its column of the heat map below, and a lane joins the tokens in
/// view to their columns.
class TokenStrips : public QWidget
{
    Q_OBJECT
public:
    TokenStrips(const Look& look, Cursor& cursor, HeatSource& source, QWidget* parent = nullptr);
    QSize sizeHint() const override;
    /// Least width of the column of names at the left, the same as the heat map's.
    static constexpr int gutter = 80;
    /// Brings the cursor's token over its column.
    void follow();
    /// Where the heat map has its columns.
    void setColumnFrame(const ColumnFrame& frame);

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
    void paintGap(QPainter& painter, const QRect& rect) const;
    void paintFades(QPainter& painter) const;
    void paintLane(QPainter& painter) const;
    std::size_t slotAt(const QPoint& point) const;
    int xOf(std::size_t slot) const { return m_frame.left + m_layout.left(slot) - m_offset; }
    int viewWidth() const;

    const Look& m_look;
    Cursor& m_cursor;
    HeatSource& m_source;
    TextWidths m_widths;
    StripLayout m_layout;
    ColourScale m_scale;
    Hatch m_hatch;
    std::vector<float> m_cells;
    const SampleEntry* m_sample = nullptr; ///< of m_compared
    ComparedPointer m_compared;
    ColumnFrame m_frame{gutter, gutter + 1, 0, 1};
    int m_offset = 0;
    bool m_pressing = false; ///< what is clicked stays under the pointer
};

} // namespace moire::widgets
