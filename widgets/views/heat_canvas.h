// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/models/heat_grid.h"
#include "widgets/plot/colour_scale.h"

#include <QImage>
#include <QWidget>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace moire::widgets {

/// What a HeatCanvas shows besides the cells.
struct HeatContent
{
    std::shared_ptr<const HeatGrid> grid; ///< null: nothing
    ColourScale scale;
    std::vector<QString> rowNames;                           ///< shown when rows are high enough
    std::vector<bool> groupStart;                            ///< rows that begin a layer
    std::vector<std::pair<std::size_t, QString>> groupTicks; ///< row, label
    std::vector<std::size_t> flips, routeChanges;            ///< columns marked below
    bool contour = false;                                    ///< draw where columns first differ
    QString lowText, highText;                               ///< ends of the scale
    QString zeroText = QStringLiteral("equal");              ///< what an exact zero means
    QString unsizedText;                                     ///< what differs by an unknown size
    std::function<QString(std::size_t row, std::size_t column)> describe; ///< tooltip
};

/// Where a canvas has its columns, in its own coordinates: column c begins at
/// left + (c − origin) · width.
struct ColumnFrame
{
    int left = 0;
    int right = 0; ///< end of the area
    qreal origin = 0;
    qreal width = 1;
    friend bool operator==(const ColumnFrame&, const ColumnFrame&) = default;

    qreal xOf(qreal column) const { return left + (column - origin) * width; }
};

/// A grid of cells with its axes, marks and legend: pans, zooms, never averages. A click chooses a
/// cell. Knows nothing of runs.
class HeatCanvas : public QWidget
{
    Q_OBJECT
public:
    HeatCanvas(const Look& look, int gutter, QWidget* parent = nullptr);

    void setContent(HeatContent content);
    void setCursorCell(std::optional<std::size_t> row, std::optional<std::size_t> column);
    void fit();
    /// Zooms by a factor around a point of the widget.
    void zoom(double factor, QPointF centre);
    void zoomBy(double factor) { zoom(factor, QRectF(cellArea()).center()); }
    void pan(double pixelsX, double pixelsY);
    static constexpr double keyStep = 1.25; ///< zoom of one key press

    QSize sizeHint() const override { return {560, 320}; }
    /// The cells now in view: x = columns, y = rows.
    QRectF visibleCells() const;
    ColumnFrame columnFrame() const;

Q_SIGNALS:
    void cellChosen(std::size_t row, std::size_t column);
    /// columnFrame() is another.
    void columnsMoved();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;

private:
    int leftGutter() const;
    QRect cellArea() const; ///< where cells may stand
    QRect usedArea() const; ///< where they do
    int footHeight() const;
    void clampWindow();
    void tellColumns();
    void bringCursorIntoView();
    std::optional<std::pair<std::size_t, std::size_t>> cellAt(QPointF point) const;
    qreal xOf(double column) const;
    qreal yOf(double row) const;
    void renderCells();
    void paintContour(QPainter& painter) const;
    void paintCursor(QPainter& painter) const;

    const Look& m_look;
    int m_gutter;
    HeatContent m_content;
    std::optional<std::size_t> m_cursorRow, m_cursorColumn;
    bool m_fitted = true;
    QSizeF m_cell{1, 1}; ///< pixels of a cell
    QPointF m_origin;    ///< first visible cell
    QPointF m_pressed;
    ColumnFrame m_told; ///< what columnsMoved() last stood for
    QImage m_image;
};

} // namespace moire::widgets
