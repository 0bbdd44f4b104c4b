// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/family_bar.h"

#include "core/base/text.h"
#include "widgets/views/paint.h"

#include <QHelpEvent>
#include <QToolTip>

namespace moire::widgets {

namespace {

constexpr int barHeight = 68;
constexpr int titleTop = 8;
constexpr int valueTop = 24;
constexpr int detailTop = 46;
constexpr int lineHeight = 16;
constexpr int valueHeight = 22;

QString shown(const std::string& text)
{
    return QString::fromStdString(base::visibleText(text));
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
    if (!compared.measured)
        for (report::Chip& chip : m_chips)
            if (!chip.known) {
                chip.value = "measuring…";
                chip.detail.clear();
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
        const auto line = [&](int top, int height, const QString& text, TextRole role,
                              const QColor& ink) {
            paint::text(painter,
                        QRect(rect.x() + Look::inset, rect.y() + top,
                              rect.width() - 2 * Look::inset, height),
                        Qt::AlignLeft | Qt::AlignVCenter, text, m_look.font(role), ink);
        };
        line(titleTop, lineHeight, shown(chip.title), TextRole::Small, theme.dim);
        line(valueTop, valueHeight, shown(chip.value),
             chip.known ? TextRole::Value : TextRole::Verdict,
             chip.known ? theme.ink : theme.faint);
        const QString detail = chip.detail.empty() ? QStringLiteral("–") : shown(chip.detail);
        line(detailTop, lineHeight, detail, TextRole::Small, chip.known ? theme.dim : theme.faint);
    }
}

bool FamilyBar::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        auto* help = static_cast<QHelpEvent*>(event);
        for (std::size_t i = 0; i < m_chips.size(); ++i)
            if (chipRect(i).contains(help->pos()))
                QToolTip::showText(help->globalPos(),
                                   shown(m_chips[i].title) + '\n' + shown(m_chips[i].value) + '\n'
                                       + shown(m_chips[i].detail),
                                   this);
        return true;
    }
    return QWidget::event(event);
}

} // namespace moire::widgets
