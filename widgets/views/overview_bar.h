// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/views/heat_canvas.h"
#include "widgets/views/heat_source.h"

#include <QWidget>

#include <optional>
#include <vector>

namespace moire::widgets {

/// All tokens of all samples in one line, the worst cell of each pixel's tokens, with a frame
/// around what the heat map shows. A click or drag goes there.
class OverviewBar : public QWidget
{
    Q_OBJECT
public:
    OverviewBar(const Look& look, Cursor& cursor, HeatSource& source, QWidget* parent = nullptr);
    QSize sizeHint() const override;
    /// Where the heat map has its columns.
    void setColumnFrame(const ColumnFrame& frame);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

private:
    QRect barRect() const;
    void refresh();
    std::size_t total() const { return m_begins.back(); }
    int xOf(double token) const;
    std::optional<Place> placeAt(const QPoint& point) const;
    void goTo(const QPoint& point);
    void paintFrame(QPainter& painter) const;

    const Look& m_look;
    Cursor& m_cursor;
    HeatSource& m_source;
    ColumnFrame m_frame;
    ComparedPointer m_compared; ///< what m_begins is of
    std::vector<std::size_t> m_begins{
        0}; ///< per sample its first token in the line of all; the end
};

} // namespace moire::widgets
