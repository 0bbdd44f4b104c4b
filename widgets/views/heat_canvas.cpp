// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/heat_canvas.h"

#include "widgets/plot/heat_raster.h"
#include "widgets/views/heat_axes.h"
#include "widgets/views/heat_legend.h"
#include "widgets/views/paint.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainterPath>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace moire::widgets {

namespace {

constexpr qreal widestFit = 64;   // pixels a column when everything fits
constexpr qreal highestFit = 28;  // pixels a row likewise
constexpr qreal largestCell = 64; // zoomed in
constexpr double wheelStep = 1.2;
constexpr int wheelNotch = 120;
constexpr qreal panPerNotch = 48;

} // namespace

HeatCanvas::HeatCanvas(const Look& look, int gutter, QWidget* parent)
    : QWidget(parent)
    , m_look(look)
    , m_gutter(gutter)
{
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    connect(&look, &Look::changed, this, [this] {
        m_image = {};
        update();
    });
}

void HeatCanvas::setContent(HeatContent content)
{
    const bool sameShape = m_content.grid && content.grid
                           && m_content.grid->rows() == content.grid->rows()
                           && m_content.grid->columns() == content.grid->columns();
    m_content = std::move(content);
    m_image = {};
    if (!sameShape || m_fitted)
        fit();
    update();
}

void HeatCanvas::setCursorCell(std::optional<std::size_t> row, std::optional<std::size_t> column)
{
    m_cursorRow = row;
    m_cursorColumn = column;
    bringCursorIntoView();
    update();
}

int HeatCanvas::leftGutter() const
{
    return heatAxes::namesFit(m_cell.height(), m_content.rowNames)
               ? heatAxes::nameGutter(m_look, m_content.rowNames, m_gutter, width())
               : m_gutter;
}

QRect HeatCanvas::cellArea() const
{
    const int left = leftGutter();
    return {left, 0, std::max(1, width() - left - Look::inset),
            std::max(1, height() - footHeight())};
}

int HeatCanvas::footHeight() const
{
    return heatAxes::markLane + heatAxes::numberLane
           + heatLegend::height(m_look, m_content, width() - m_gutter - Look::inset) + Look::step;
}

ColumnFrame HeatCanvas::columnFrame() const
{
    const QRect area = cellArea();
    return {area.x(), area.x() + area.width(), m_origin.x(), m_cell.width()};
}

void HeatCanvas::tellColumns()
{
    const ColumnFrame frame = columnFrame();
    if (frame == m_told)
        return;
    m_told = frame;
    Q_EMIT columnsMoved();
}

QRect HeatCanvas::usedArea() const
{
    if (!m_content.grid)
        return {};
    const QRect area = cellArea();
    const auto columns = static_cast<qreal>(m_content.grid->columns());
    const auto rows = static_cast<qreal>(m_content.grid->rows());
    return {area.x(), area.y(),
            std::min(area.width(), static_cast<int>(std::round(columns * m_cell.width()))),
            std::min(area.height(), static_cast<int>(std::round(rows * m_cell.height())))};
}

QRectF HeatCanvas::visibleCells() const
{
    const QRect used = usedArea();
    return {m_origin.x(), m_origin.y(), used.width() / m_cell.width(),
            used.height() / m_cell.height()};
}

void HeatCanvas::fit()
{
    m_fitted = true;
    m_origin = {};
    m_image = {};
    if (!m_content.grid || m_content.grid->isEmpty())
        return;
    // The gutter depends on the rows' height, so that comes first.
    const qreal roomHigh = std::max(1, height() - footHeight());
    m_cell.setHeight(std::min(highestFit, roomHigh / static_cast<qreal>(m_content.grid->rows())));
    m_cell.setWidth(
        std::min(widestFit, cellArea().width() / static_cast<qreal>(m_content.grid->columns())));
    tellColumns();
    update();
}

void HeatCanvas::clampWindow()
{
    const QRectF shown = visibleCells();
    const auto columns = static_cast<qreal>(m_content.grid->columns());
    const auto rows = static_cast<qreal>(m_content.grid->rows());
    m_origin.setX(std::clamp(m_origin.x(), 0.0, std::max(0.0, columns - shown.width())));
    m_origin.setY(std::clamp(m_origin.y(), 0.0, std::max(0.0, rows - shown.height())));
    m_image = {};
    tellColumns();
    update();
}

void HeatCanvas::zoom(double factor, QPointF centre)
{
    if (!m_content.grid || m_content.grid->isEmpty())
        return;
    const QRect area = cellArea();
    const QPointF inside = centre - area.topLeft();
    const QPointF under{m_origin.x() + inside.x() / m_cell.width(),
                        m_origin.y() + inside.y() / m_cell.height()};
    const qreal leastWide = area.width() / static_cast<qreal>(m_content.grid->columns());
    const qreal leastHigh = area.height() / static_cast<qreal>(m_content.grid->rows());
    m_cell = {std::clamp(m_cell.width() * factor, std::min(leastWide, widestFit), largestCell),
              std::clamp(m_cell.height() * factor, std::min(leastHigh, highestFit), largestCell)};
    m_origin = {under.x() - inside.x() / m_cell.width(), under.y() - inside.y() / m_cell.height()};
    m_fitted = false;
    clampWindow();
}

void HeatCanvas::pan(double pixelsX, double pixelsY)
{
    if (!m_content.grid || m_content.grid->isEmpty())
        return;
    m_origin += QPointF(pixelsX / m_cell.width(), pixelsY / m_cell.height());
    clampWindow();
}

void HeatCanvas::bringCursorIntoView()
{
    if (!m_content.grid || m_content.grid->isEmpty() || m_fitted)
        return;
    const QRectF shown = visibleCells();
    const auto moved = [](double place, double first, double span) {
        return place < first ? place : place + 1 > first + span ? place + 1 - span : first;
    };
    if (m_cursorColumn)
        m_origin.setX(moved(static_cast<double>(*m_cursorColumn), shown.x(), shown.width()));
    if (m_cursorRow)
        m_origin.setY(moved(static_cast<double>(*m_cursorRow), shown.y(), shown.height()));
    clampWindow();
}

std::optional<std::pair<std::size_t, std::size_t>> HeatCanvas::cellAt(QPointF point) const
{
    if (!m_content.grid || m_content.grid->isEmpty() || !usedArea().contains(point.toPoint()))
        return std::nullopt;
    const QPointF inside = point - cellArea().topLeft();
    const auto column =
        static_cast<std::size_t>(std::max(0.0, m_origin.x() + inside.x() / m_cell.width()));
    const auto row =
        static_cast<std::size_t>(std::max(0.0, m_origin.y() + inside.y() / m_cell.height()));
    return std::pair(std::min(row, m_content.grid->rows() - 1),
                     std::min(column, m_content.grid->columns() - 1));
}

qreal HeatCanvas::xOf(double column) const
{
    return cellArea().x() + (column - m_origin.x()) * m_cell.width();
}

qreal HeatCanvas::yOf(double row) const
{
    return cellArea().y() + (row - m_origin.y()) * m_cell.height();
}

void HeatCanvas::renderCells()
{
    const qreal ratio = devicePixelRatioF();
    const QSize pixels = (QSizeF(usedArea().size()) * ratio).toSize();
    if (!m_image.isNull() && m_image.size() == pixels)
        return;
    m_image = renderHeat(*m_content.grid, {visibleCells(), pixels}, m_content.scale, m_look.theme(),
                         m_content.groupStart);
    m_image.setDevicePixelRatio(ratio);
}

void HeatCanvas::paintContour(QPainter& painter) const
{
    QPainterPath path;
    bool drawing = false;
    const HeatGrid& grid = *m_content.grid;
    // Once, not for every column: it lays out the legend.
    const QPointF corner(cellArea().topLeft()
                         - QPointF(m_origin.x() * m_cell.width(), m_origin.y() * m_cell.height()));
    const auto placeOf = [&](std::size_t column, std::size_t row) {
        return corner
               + QPointF(static_cast<double>(column) * m_cell.width(),
                         static_cast<double>(row) * m_cell.height());
    };
    for (std::size_t column = 0; column < grid.columns(); ++column) {
        const std::size_t row = grid.firstDifferent()[column];
        if (row >= grid.rows()) {
            drawing = false;
            continue;
        }
        const QPointF left = placeOf(column, row);
        if (drawing)
            path.lineTo(left);
        else
            path.moveTo(left);
        path.lineTo(placeOf(column + 1, row));
        drawing = true;
    }
    constexpr qreal contourWidth = 2;
    painter.setPen(QPen(m_look.theme().target, contourWidth));
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(path);
}

void HeatCanvas::paintCursor(QPainter& painter) const
{
    const QRect used = usedArea();
    const Theme& theme = m_look.theme();
    painter.setBrush(Qt::NoBrush);
    constexpr qreal leastSide = 5;
    if (m_cursorColumn) {
        const qreal x = std::round(xOf(static_cast<double>(*m_cursorColumn)));
        const qreal wide = std::max(leastSide, std::round(m_cell.width()));
        painter.setPen(QPen(theme.ink, 1));
        painter.drawRect(QRectF(x - 0.5, used.y() + 0.5, wide, used.height() - 1));
        if (m_cursorRow) {
            const qreal high = std::max(leastSide, m_cell.height());
            const qreal y = yOf(static_cast<double>(*m_cursorRow) + 0.5) - high / 2;
            painter.setPen(QPen(theme.target, 2));
            painter.drawRect(QRectF(x, std::max(y, used.y() + 1.0), wide - 1, high));
        }
    }
}

void HeatCanvas::paintEvent(QPaintEvent*)
{
    if (!m_content.grid || m_content.grid->isEmpty())
        return;
    renderCells();
    QPainter painter(this);
    const QRect used = usedArea();
    painter.drawImage(used.topLeft(), m_image);
    painter.save();
    painter.setClipRect(used.adjusted(-2, 0, 2, 1));
    if (m_content.contour)
        paintContour(painter);
    paintCursor(painter);
    painter.restore();
    const heatAxes::Frame frame{m_look, m_content,   used,          m_origin,
                                m_cell, m_cursorRow, m_cursorColumn};
    heatAxes::paintRows(painter, frame);
    heatAxes::paintColumns(painter, frame);
    const int legendTop = used.bottom() + 1 + heatAxes::markLane + heatAxes::numberLane;
    const int legendLeft = std::min(used.x(), m_gutter);
    const QRect legend(legendLeft, legendTop, width() - Look::inset - legendLeft,
                       height() - legendTop);
    heatLegend::paint(painter, m_look, m_content, legend, used.right() + 1);
    heatAxes::paintScrollMarks(painter, frame, cellArea());
}

void HeatCanvas::resizeEvent(QResizeEvent*)
{
    m_image = {};
    if (m_fitted)
        fit();
    else if (m_content.grid && !m_content.grid->isEmpty())
        clampWindow();
}

void HeatCanvas::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange)
        m_image = {};
    QWidget::changeEvent(event);
}

void HeatCanvas::mousePressEvent(QMouseEvent* event)
{
    m_pressed = event->position();
    const auto cell = cellAt(event->position());
    if (event->button() == Qt::LeftButton && cell)
        Q_EMIT cellChosen(cell->first, cell->second);
}

void HeatCanvas::mouseMoveEvent(QMouseEvent* event)
{
    if (event->buttons().testFlag(Qt::MiddleButton)) {
        const QPointF delta = m_pressed - event->position();
        m_pressed = event->position();
        pan(delta.x(), delta.y());
    } else if (event->buttons().testFlag(Qt::LeftButton)) {
        if (const auto cell = cellAt(event->position()))
            Q_EMIT cellChosen(cell->first, cell->second);
    }
}

void HeatCanvas::wheelEvent(QWheelEvent* event)
{
    const QPointF notches = QPointF(event->angleDelta()) / wheelNotch;
    if (event->modifiers().testFlag(Qt::ControlModifier))
        zoom(std::pow(wheelStep, notches.y()), event->position());
    else if (event->modifiers().testFlag(Qt::ShiftModifier))
        pan(-(notches.x() + notches.y()) * panPerNotch, 0);
    else
        pan(-notches.x() * panPerNotch, -notches.y() * panPerNotch);
    event->accept();
}

bool HeatCanvas::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip && m_content.describe) {
        auto* help = static_cast<QHelpEvent*>(event);
        if (const auto cell = cellAt(help->pos()))
            QToolTip::showText(help->globalPos(), m_content.describe(cell->first, cell->second),
                               this);
        return true;
    }
    return QWidget::event(event);
}

} // namespace moire::widgets
