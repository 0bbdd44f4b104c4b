// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/family_bar.h"

#include "core/base/text.h"
#include "widgets/views/paint.h"

#include <QFontMetrics>
#include <QHelpEvent>
#include <QToolTip>

#include <array>
#include <initializer_list>

namespace moire::widgets {

QString detailThatFits(const QString& detail, const QFont& font, int width)
{
    if (paint::widthOf(font, detail) <= width)
        return detail;
    const QString separator = QStringLiteral(" · ");
    QStringList parts = detail.split(separator);
    while (parts.size() > 1 && paint::widthOf(font, parts.join(separator)) > width)
        parts.removeLast();
    return parts.join(separator);
}

namespace {

constexpr int barHeight = 72;
constexpr int titleTop = 8;
constexpr int valueTop = 24;
constexpr int detailTop = 46;
constexpr int lineHeight = 16;
constexpr int valueHeight = 22;
constexpr int reasonTop = 40;    // of a family without a value
constexpr int reasonHeight = 30; // two lines

/// The measures behind the chips, in their order; the first of a chip that has a value counts.
const std::array<std::initializer_list<const char*>, 6> measuresOfChips{
    {{"A1"}, {"C1"}, {"E3[k=5]", "E3"}, {"G1", "E1", "G7"}, {"J1"}, {"H1"}}};

QString shown(const std::string& text)
{
    QString words = QString::fromStdString(base::visibleText(text));
    // As the other views write exponents.
    words.replace(QLatin1String("e-0"), QLatin1String("e-"));
    return words;
}

QString aboutInterval(const diff::Report& report, std::initializer_list<const char*> ids)
{
    for (const char* id : ids) {
        const diff::Measure* measure = report::findIn(report.measures, id);
        if (measure == nullptr || !measure->value)
            continue;
        if (measure->interval)
            return QStringLiteral("95 % interval: %1").arg(shown(measure->interval->method));
        return measure->whyNoInterval.empty()
                   ? QString()
                   : QStringLiteral("no interval: %1").arg(shown(measure->whyNoInterval));
    }
    return {};
}

} // namespace

FamilyBar::FamilyBar(const Look& look, QWidget* parent)
    : QWidget(parent)
    , m_look(look)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(QStringLiteral("Families of measures"));
    connect(&look, &Look::changed, this, qOverload<>(&QWidget::update));
}

void FamilyBar::setCompared(const Compared& compared)
{
    m_chips = report::familyChips(compared.report);
    m_about.clear();
    for (std::size_t i = 0; i < m_chips.size(); ++i)
        m_about.push_back(i < measuresOfChips.size()
                              ? aboutInterval(compared.report, measuresOfChips[i])
                              : QString());
    if (!compared.measured)
        for (report::Chip& chip : m_chips)
            if (!chip.known) {
                chip.value = "measuring…";
                chip.detail.clear();
            }
    for (report::Chip& chip : m_chips) {
        // "no task" and "no task: …" below it would say it twice.
        const std::string again = chip.value + ": ";
        if (chip.detail.starts_with(again))
            chip.detail.erase(0, again.size());
    }
    QStringList lines;
    for (const report::Chip& chip : m_chips)
        lines.append(shown(chip.title) + ' ' + shown(chip.value));
    setAccessibleDescription(lines.join(QStringLiteral("; ")));
    update();
}

QSize FamilyBar::sizeHint() const
{
    return {720, barHeight};
}

QRect FamilyBar::chipRect(std::size_t i) const
{
    const int count = static_cast<int>(m_chips.size());
    const int place = static_cast<int>(i);
    const int room = width() - (count - 1) * Look::gap;
    const int left = place * room / count;
    return {left + place * Look::gap, 0, (place + 1) * room / count - left, barHeight};
}

void FamilyBar::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const Theme& theme = m_look.theme();
    for (std::size_t i = 0; i < m_chips.size(); ++i) {
        const report::Chip& chip = m_chips[i];
        const QRect rect = chipRect(i);
        paint::card(painter, theme, rect);
        const int width = rect.width() - 2 * Look::inset;
        const auto line = [&](int top, int height, const QString& text, const QFont& font,
                              const QColor& ink) {
            paint::text(painter, QRect(rect.x() + Look::inset, rect.y() + top, width, height),
                        Qt::AlignLeft | Qt::AlignVCenter, text, font, ink, Qt::ElideRight);
        };
        const QFont small = m_look.font(TextRole::Small);
        line(titleTop, lineHeight, shown(chip.title), small, theme.dim);
        const QString value = shown(chip.value);
        if (!chip.known) {
            line(valueTop, lineHeight, value, m_look.font(TextRole::Base), theme.faint);
            paintReason(painter, QRect(rect.x() + Look::inset, reasonTop, width, reasonHeight),
                        shown(chip.detail));
            continue;
        }
        const QFont large = m_look.font(TextRole::Value);
        line(valueTop, valueHeight, value, paint::fitted(large, value, width), theme.ink);
        const QString detail = chip.detail.empty()
                                   ? QStringLiteral("no interval")
                                   : detailThatFits(shown(chip.detail), small, width);
        line(detailTop, lineHeight, detail, paint::fitted(small, detail, width), theme.dim);
    }
}

void FamilyBar::paintReason(QPainter& painter, const QRect& room, const QString& reason) const
{
    QFont font = m_look.font(TextRole::Small);
    const auto fits = [&](const QFont& candidate) {
        return QFontMetrics(candidate).boundingRect(room, Qt::TextWordWrap, reason).height()
               <= room.height();
    };
    while (font.pixelSize() > paint::smallestPixels && !fits(font))
        font.setPixelSize(font.pixelSize() - 1);
    painter.setFont(font);
    painter.setPen(m_look.theme().faint);
    painter.drawText(room, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, reason);
}

QString FamilyBar::tipOf(std::size_t chip) const
{
    QStringList lines{shown(m_chips[chip].title), shown(m_chips[chip].value),
                      shown(m_chips[chip].detail), m_about[chip]};
    lines.removeAll(QString());
    return lines.join('\n');
}

bool FamilyBar::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        auto* help = static_cast<QHelpEvent*>(event);
        for (std::size_t i = 0; i < m_chips.size(); ++i)
            if (chipRect(i).contains(help->pos()))
                QToolTip::showText(help->globalPos(), tipOf(i), this);
        return true;
    }
    return QWidget::event(event);
}

} // namespace moire::widgets
