// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/heat_legend.h"

#include "widgets/views/paint.h"

#include <QPainterPath>

#include <algorithm>
#include <functional>
#include <vector>

namespace moire::widgets::heatLegend {

namespace {

constexpr int lineHeight = 18;
constexpr int swatch = 12; // edge of a sample
constexpr int widestBar = 96;
constexpr int leastBar = 24;
constexpr int barHeight = 8;

struct Entry
{
    QString text;
    std::function<void(QPainter&, const QRect&)> draw;
};

void frame(QPainter& painter, const QRect& box, const QColor& colour)
{
    painter.setPen(colour);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(box.adjusted(0, 0, -1, -1));
}

/// A step of the staircase that joins where columns first differ.
void drawStair(QPainter& painter, const QRect& box, const QColor& colour)
{
    const qreal middle = box.center().x() + 0.5;
    QPainterPath path(QPointF(box.left(), box.top() + 3.0));
    path.lineTo(middle, box.top() + 3.0);
    path.lineTo(middle, box.bottom() - 2.0);
    path.lineTo(box.right() + 1.0, box.bottom() - 2.0);
    painter.setPen(QPen(colour, 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(path);
}

std::vector<Entry> entriesOf(const Look& look, const HeatContent& content)
{
    const Theme& theme = look.theme();
    std::vector<Entry> entries;
    entries.push_back({content.zeroText, [&theme](QPainter& painter, const QRect& box) {
                           painter.fillRect(box, theme.equal);
                           frame(painter, box, theme.line);
                       }});
    const bool unsized = content.grid->holds(cell::unsized);
    const bool notFinite = content.grid->holds(cell::notFinite);
    const QString nothing = textOfCell(cell::notFinite, HeatMeasure::RelativeL2);
    if (unsized || notFinite)
        entries.push_back({!notFinite ? content.unsizedText
                           : unsized  ? content.unsizedText + QStringLiteral("; or nothing finite")
                                      : nothing,
                           [&theme](QPainter& painter, const QRect& box) {
                               painter.fillRect(box, theme.unsized);
                           }});
    if (content.contour)
        entries.push_back(
            {QStringLiteral("first difference"), [&theme](QPainter& painter, const QRect& box) {
                 drawStair(painter, box, theme.target);
             }});
    if (!content.flips.empty())
        entries.push_back(
            {QStringLiteral("top-1 flips"), [&theme](QPainter& painter, const QRect& box) {
                 paint::flipMark(painter, QRectF(box).center(), theme.target);
             }});
    if (!content.routeChanges.empty())
        entries.push_back(
            {QStringLiteral("experts change"), [&theme](QPainter& painter, const QRect& box) {
                 paint::routeMark(painter, QRectF(box).center(), theme.reference);
             }});
    for (const auto& [code, text] : {std::pair(cell::notComparable, "not comparable"),
                                     std::pair(cell::notRecorded, "not recorded")})
        if (content.grid->holds(code))
            entries.push_back({QString::fromLatin1(text),
                               [&theme, code = code](QPainter& painter, const QRect& box) {
                                   Hatch(theme).paint(painter, box, code);
                                   frame(painter, box, theme.line);
                               }});
    return entries;
}

int widthOf(const Look& look, const QString& text)
{
    return paint::widthOf(look.font(TextRole::Small), text);
}

/// Width of the numbers at the ends of the colour scale and of what keeps them from it.
int endsWidth(const Look& look, const HeatContent& content)
{
    return widthOf(look, content.lowText) + widthOf(look, content.highText) + 2 * Look::gap;
}

int barWidth(const Look& look, const HeatContent& content, int width)
{
    return std::clamp(width - endsWidth(look, content), leastBar, widestBar);
}

/// Where each entry begins, and last the colour scale where there is one: line by line.
std::vector<QPoint> placesOf(const Look& look, const HeatContent& content,
                             const std::vector<Entry>& entries, int width)
{
    std::vector<QPoint> places;
    QPoint at;
    const auto put = [&](int wide) {
        if (at.x() > 0 && at.x() + wide > width)
            at = {0, at.y() + lineHeight};
        places.push_back(at);
        at.rx() += wide + Look::inset;
    };
    for (const Entry& entry : entries)
        put(swatch + Look::step + widthOf(look, entry.text));
    if (!content.grid->isOfBits())
        put(endsWidth(look, content) + barWidth(look, content, width));
    return places;
}

} // namespace

int height(const Look& look, const HeatContent& content, int width)
{
    if (!content.grid || content.grid->isEmpty())
        return lineHeight;
    return placesOf(look, content, entriesOf(look, content), width).back().y() + lineHeight;
}

void paint(QPainter& painter, const Look& look, const HeatContent& content, const QRect& room,
           int scaleRight)
{
    const Theme& theme = look.theme();
    const QFont font = look.font(TextRole::Small);
    const std::vector<Entry> entries = entriesOf(look, content);
    const std::vector<QPoint> places = placesOf(look, content, entries, room.width());
    const auto word = [&](int x, int y, const QString& text) {
        return paint::text(painter, QRect(x, y, widthOf(look, text) + 1, lineHeight),
                           Qt::AlignLeft | Qt::AlignVCenter, text, font, theme.dim, Qt::ElideNone);
    };
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const QPoint at = room.topLeft() + places[i];
        entries[i].draw(painter, QRect(at.x(), at.y() + (lineHeight - swatch) / 2, swatch, swatch));
        word(at.x() + swatch + Look::step, at.y(), entries[i].text);
    }
    if (content.grid->isOfBits())
        return; // no sizes, no scale
    const QPoint least = room.topLeft() + places.back();
    const int y = least.y();
    const int right = std::min(scaleRight, room.right() + 1);
    const int bar = barWidth(look, content, room.width());
    int x = std::max(least.x(), right - endsWidth(look, content) - bar);
    x += word(x, y, content.lowText) + Look::gap;
    content.scale.paintBar(painter, {x, y + (lineHeight - barHeight) / 2, bar, barHeight});
    word(x + bar + Look::gap, y, content.highText);
}

} // namespace moire::widgets::heatLegend
