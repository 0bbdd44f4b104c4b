// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/ulp_histogram.h"

#include "widgets/views/paint.h"

#include <algorithm>
#include <cmath>

namespace moire::widgets {

namespace {

constexpr int plotHeight = 120;
constexpr int numberHeight = 16;
constexpr int widestBar = 32;
constexpr std::int64_t lastBin = 16;

QString binText(std::int64_t ulps)
{
    const QString sign = ulps > 0   ? QStringLiteral("+")
                         : ulps < 0 ? QStringLiteral("−")
                                    : QString();
    const QString beyond = std::abs(ulps) >= lastBin ? QStringLiteral("…") : QString();
    return sign + QString::number(std::abs(ulps)) + beyond;
}

QString countText(std::uint64_t count)
{
    constexpr std::uint64_t thousand = 1000;
    if (count < 10 * thousand)
        return QString::number(count);
    if (count < thousand * thousand)
        return QString::number(count / thousand) + QLatin1Char('k');
    return QString::number(count / (thousand * thousand)) + QLatin1Char('M');
}

} // namespace

UlpHistogram::UlpHistogram(const Look& look, QWidget* parent)
    : QWidget(parent)
    , m_look(look)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(QStringLiteral("Histogram of ulps"));
    connect(&look, &Look::changed, this, qOverload<>(&QWidget::update));
}

QSize UlpHistogram::sizeHint() const
{
    return {240, plotHeight};
}

void UlpHistogram::setCounts(std::vector<std::pair<std::int64_t, std::uint64_t>> counts)
{
    std::erase_if(counts, [](const auto& bin) { return bin.second == 0; });
    m_counts = std::move(counts);
    update();
}

void UlpHistogram::paintEvent(QPaintEvent*)
{
    if (m_counts.empty())
        return;
    QPainter painter(this);
    const Theme& theme = m_look.theme();
    const QFont font = m_look.font(TextRole::Small);
    const int count = static_cast<int>(m_counts.size());
    const int room = width() - 2 * Look::inset;
    const int pitch = std::min(2 * widestBar, room / count);
    const int bar = std::clamp(pitch - Look::step, 2, widestBar);
    const int left = Look::inset + (room - pitch * count) / 2;
    const int base = height() - numberHeight - Look::step;
    const int highest = base - numberHeight - Look::gap;
    std::uint64_t most = 1;
    for (const auto& bin : m_counts)
        most = std::max(most, bin.second);
    // Labels that would run into each other are thinned out; the bins 0 and the ends stay.
    const int every = std::max(1, static_cast<int>(std::ceil(34.0 / pitch)));
    for (int i = 0; i < count; ++i) {
        const auto& [ulps, number] = m_counts[static_cast<std::size_t>(i)];
        const double share = std::log2(1.0 + static_cast<double>(number))
                             / std::log2(1.0 + static_cast<double>(most));
        const int high = std::max(2, static_cast<int>(share * highest));
        const int x = left + i * pitch;
        const auto place = static_cast<std::size_t>(
            std::clamp<std::int64_t>(std::abs(ulps) == 0 ? 0 : 1 + std::abs(ulps) / 4, 0, 5));
        const QColor colour =
            ulps == 0 ? theme.equal : theme.scale[std::min<std::size_t>(place + 1, 5)];
        const QRect box(x + (pitch - bar) / 2, base - high, bar, high);
        painter.fillRect(box, colour);
        if (ulps == 0) {
            painter.setPen(theme.line);
            painter.setBrush(Qt::NoBrush);
            painter.drawRect(box.adjusted(0, 0, -1, -1));
        }
        if (i % every != 0 && ulps != 0 && i != count - 1)
            continue;
        const QRect wide(x - pitch, 0, 3 * pitch, numberHeight);
        paint::text(painter, wide.translated(0, base - high - numberHeight), Qt::AlignCenter,
                    countText(number), font, theme.dim, Qt::ElideNone);
        paint::text(painter, wide.translated(0, base + 2), Qt::AlignCenter, binText(ulps), font,
                    theme.dim, Qt::ElideNone);
    }
}

} // namespace moire::widgets
