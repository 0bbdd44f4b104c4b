// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/section_label.h"

#include "widgets/views/paint.h"

namespace moire::widgets {

SectionLabel::SectionLabel(const Look& look, const QString& title, QWidget* parent)
    : QWidget(parent)
    , m_look(look)
    , m_title(title)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(&look, &Look::changed, this, qOverload<>(&QWidget::update));
}

void SectionLabel::setNote(const QString& note)
{
    m_note = note;
    update();
}

QSize SectionLabel::sizeHint() const
{
    constexpr int height = 28;
    return {160, height};
}

void SectionLabel::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const Theme& theme = m_look.theme();
    QFont strong = m_look.font(TextRole::Small);
    strong.setWeight(QFont::DemiBold);
    const QRect line(Look::inset, 0, width() - 2 * Look::inset, height());
    paint::text(painter, line, Qt::AlignLeft | Qt::AlignVCenter, m_title, strong, theme.dim);
    paint::text(painter, line, Qt::AlignRight | Qt::AlignVCenter, m_note,
                m_look.font(TextRole::Small), theme.dim);
    painter.setPen(theme.line);
    painter.drawLine(0, height() - 1, width(), height() - 1);
}

} // namespace moire::widgets
