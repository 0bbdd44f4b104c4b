// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/panel.h"

#include "widgets/views/paint.h"

#include <QHBoxLayout>
#include <QStackedLayout>
#include <QVBoxLayout>

#include <algorithm>

namespace moire::widgets {

Panel::Panel(const Look& look, const QString& title, QWidget* body, QWidget* parent)
    : QWidget(parent)
    , m_look(look)
    , m_title(title)
    , m_body(body)
    , m_state(new StateView(look, this))
    , m_stack(new QStackedLayout)
    , m_header(new QHBoxLayout)
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(1, 0, 1, 1);
    layout->setSpacing(0);
    auto* header = new QWidget(this);
    header->setFixedHeight(headerHeight + 1);
    header->setLayout(m_header);
    header->setAttribute(Qt::WA_TransparentForMouseEvents, false);
    m_header->setContentsMargins(Look::inset, 0, Look::step, 0);
    m_header->addStretch(1);
    layout->addWidget(header);
    layout->addLayout(m_stack, 1);
    m_stack->addWidget(m_body);
    m_stack->addWidget(m_state);
    setAccessibleName(title);
    connect(&look, &Look::changed, this, qOverload<>(&QWidget::update));
}

void Panel::setTitle(const QString& title)
{
    m_title = title;
    setAccessibleName(title);
    update();
}

void Panel::setNote(const QString& note)
{
    m_note = note;
    update();
}

void Panel::setFramed(bool framed)
{
    m_framed = framed;
    update();
}

void Panel::addHeaderWidget(QWidget* widget)
{
    m_header->addWidget(widget);
}

void Panel::showBody()
{
    m_stack->setCurrentWidget(m_body);
}

void Panel::showState(const QString& title, const QString& sentence, const QString& hint)
{
    m_state->setState(title, sentence, hint);
    m_stack->setCurrentWidget(m_state);
}

void Panel::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const Theme& theme = m_look.theme();
    if (m_framed)
        paint::card(painter, theme, rect());
    painter.setPen(theme.line);
    painter.drawLine(1, headerHeight, width() - 2, headerHeight);
    int right = width() - Look::inset;
    for (int i = 0; i < m_header->count(); ++i)
        if (const QWidget* control = m_header->itemAt(i)->widget())
            right = std::min(right, control->x() - Look::gap);
    QRect line(Look::inset, 0, right - Look::inset, headerHeight);
    QFont strong = m_look.font(TextRole::Small);
    strong.setWeight(QFont::DemiBold);
    // The remark gives way where it does not fit whole beside the title.
    const QFont font = m_look.font(TextRole::Small);
    const int noteWidth = paint::widthOf(font, m_note) + Look::inset;
    if (!m_note.isEmpty() && paint::widthOf(strong, m_title) + noteWidth <= line.width()) {
        paint::text(painter, line, Qt::AlignRight | Qt::AlignVCenter, m_note, font, theme.dim);
        line.adjust(0, 0, -noteWidth, 0);
    }
    // "Taps × tokens · relative L2": the last part alone says what is special here.
    const QString last = m_title.section(QStringLiteral(" · "), -1);
    const bool fits = paint::widthOf(strong, m_title) <= line.width();
    paint::text(painter, line, Qt::AlignLeft | Qt::AlignVCenter, fits ? m_title : last, strong,
                theme.dim, Qt::ElideMiddle);
}

} // namespace moire::widgets
