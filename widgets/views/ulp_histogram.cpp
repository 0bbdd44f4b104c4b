// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/ulp_histogram.h"

#include "widgets/views/paint.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace moire::widgets {

namespace {

constexpr int plotHeight = 136;
constexpr int numberHeight = 16;
constexpr int widestBar = 32;
constexpr std::int64_t lastBin = 16;

std::size_t at(int i)
{
    return static_cast<std::size_t>(i);
}

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

std::vector<QRect> UlpHistogram::bars() const
{
    const int count = static_cast<int>(m_counts.size());
    const int room = width() - 2 * Look::inset;
    const int pitch = std::max(1, std::min(2 * widestBar, room / count));
    const int bar = std::clamp(pitch - Look::step, 1, widestBar);
    const int left = Look::inset + (room - pitch * count) / 2;
    const int base = height() - 2 * numberHeight - Look::step;
    const int highest = base - numberHeight - Look::gap;
    std::uint64_t most = 1;
    for (const auto& bin : m_counts)
        most = std::max(most, bin.second);
    std::vector<QRect> boxes;
    for (int i = 0; i < count; ++i) {
        const double share = std::log2(1.0 + static_cast<double>(m_counts[at(i)].second))
                             / std::log2(1.0 + static_cast<double>(most));
        const int high = std::max(2, static_cast<int>(share * highest));
        boxes.emplace_back(left + i * pitch + (pitch - bar) / 2, base - high, bar, high);
    }
    return boxes;
}

void UlpHistogram::paintLabels(QPainter& painter, const std::vector<QRect>& boxes) const
{
    const QFont font = m_look.font(TextRole::Small);
    const int count = static_cast<int>(boxes.size());
    std::vector<QRect> taken;
    const auto label = [&](int middle, int top, const QString& text, int own) {
        const int wide = paint::widthOf(font, text);
        const QRect box(std::clamp(middle - wide / 2, Look::step, width() - Look::step - wide), top,
                        wide, numberHeight);
        const QRect apart = box.adjusted(-Look::step, 0, Look::step, 0);
        const auto meets = [&apart](const QRect& other) { return other.intersects(apart); };
        bool clear = std::none_of(taken.begin(), taken.end(), meets);
        for (int i = 0; i < count && clear; ++i)
            clear = i == own || !boxes[at(i)].intersects(box);
        if (!clear)
            return;
        taken.push_back(box);
        paint::text(painter, box, Qt::AlignLeft | Qt::AlignVCenter, text, font, m_look.theme().dim,
                    Qt::ElideNone);
    };
    // The bin 0 and the ends have their labels first, then whatever has room.
    std::vector<int> order(boxes.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_partition(order.begin(), order.end(), [&](int i) {
        return m_counts[at(i)].first == 0 || i == 0 || i == count - 1;
    });
    for (const int i : order) {
        const QRect& box = boxes[at(i)];
        label(box.center().x(), box.top() - numberHeight, countText(m_counts[at(i)].second), i);
        label(box.center().x(), box.bottom() + 2, binText(m_counts[at(i)].first), i);
    }
}

void UlpHistogram::paintEvent(QPaintEvent*)
{
    if (m_counts.empty())
        return;
    QPainter painter(this);
    const Theme& theme = m_look.theme();
    paint::text(painter, QRect(0, height() - numberHeight, width(), numberHeight),
                Qt::AlignHCenter | Qt::AlignVCenter,
                QStringLiteral("ulps from reference to target"), m_look.font(TextRole::Small),
                theme.faint);
    const std::vector<QRect> boxes = bars();
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        const std::int64_t ulps = m_counts[i].first;
        const auto place =
            static_cast<std::size_t>(std::clamp<std::int64_t>(2 + std::abs(ulps) / 4, 2, 5));
        painter.fillRect(boxes[i], ulps == 0 ? theme.equal : theme.scale[place]);
        if (ulps == 0) {
            painter.setPen(theme.line);
            painter.setBrush(Qt::NoBrush);
            painter.drawRect(boxes[i].adjusted(0, 0, -1, -1));
        }
    }
    paintLabels(painter, boxes);
}

} // namespace moire::widgets
