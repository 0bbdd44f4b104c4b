// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/state_view.h"

#include <QAction>
#include <QLabel>
#include <QProgressBar>
#include <QToolButton>
#include <QVBoxLayout>

namespace moire::widgets {

namespace {

constexpr int textWidth = 520;
constexpr int progressWidth = 320;
constexpr int progressSteps = 1000;

QLabel* makeLabel(QWidget* parent)
{
    auto* label = new QLabel(parent);
    label->setAlignment(Qt::AlignCenter);
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setMaximumWidth(textWidth);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

} // namespace

StateView::StateView(const Look& look, QWidget* parent)
    : QWidget(parent)
    , m_look(look)
    , m_picture(new QLabel(this))
    , m_title(makeLabel(this))
    , m_sentence(makeLabel(this))
    , m_hint(makeLabel(this))
    , m_progress(new QProgressBar(this))
    , m_buttons(new QHBoxLayout)
{
    m_picture->hide();
    m_progress->setTextVisible(false);
    m_progress->setRange(0, progressSteps);
    m_progress->setFixedWidth(progressWidth);
    m_progress->hide();
    m_buttons->setSpacing(Look::gap);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(Look::inset, Look::inset, Look::inset, Look::inset);
    layout->setSpacing(Look::gap);
    layout->addStretch(2);
    auto* column = new QVBoxLayout;
    column->setSpacing(Look::gap);
    column->addWidget(m_picture, 0, Qt::AlignHCenter);
    column->addWidget(m_title);
    column->addWidget(m_sentence);
    column->addWidget(m_progress, 0, Qt::AlignHCenter);
    column->addWidget(m_hint);
    auto* centred = new QHBoxLayout;
    centred->addStretch(1);
    centred->addLayout(column, 8);
    centred->addStretch(1);
    layout->addLayout(centred);
    auto* row = new QHBoxLayout;
    row->addStretch(1);
    row->addLayout(m_buttons);
    row->addStretch(1);
    layout->addSpacing(Look::gap);
    layout->addLayout(row);
    layout->addStretch(3);
    connect(&look, &Look::changed, this, &StateView::restyle);
    restyle();
}

void StateView::restyle()
{
    QFont heading = m_look.font(m_picture->isHidden() ? TextRole::BaseStrong : TextRole::Verdict);
    heading.setWeight(QFont::DemiBold);
    m_title->setFont(heading);
    m_sentence->setFont(m_look.font(TextRole::Base));
    m_hint->setFont(m_look.font(TextRole::Small));
    const auto tint = [](QLabel* label, const QColor& colour) {
        label->setStyleSheet(QStringLiteral("color: %1").arg(colour.name()));
    };
    tint(m_title, m_look.theme().ink);
    tint(m_sentence, m_look.theme().dim);
    tint(m_hint, m_look.theme().dim);
}

void StateView::setState(const QString& title, const QString& sentence, const QString& hint)
{
    m_title->setText(title);
    m_sentence->setText(sentence);
    m_hint->setText(hint);
    m_sentence->setVisible(!sentence.isEmpty());
    m_hint->setVisible(!hint.isEmpty());
    setAccessibleName(title);
    setAccessibleDescription(sentence + ' ' + hint);
}

void StateView::setPicture(const QPixmap& picture)
{
    m_picture->setPixmap(picture);
    m_picture->show();
    restyle();
}

void StateView::setProgress(double share)
{
    m_progress->setVisible(share >= 0);
    m_progress->setValue(static_cast<int>(share * progressSteps));
}

void StateView::addAction(QAction* action, bool primary)
{
    auto* button = new QToolButton(this);
    button->setDefaultAction(action);
    button->setToolButtonStyle(Qt::ToolButtonTextOnly);
    if (primary)
        button->setObjectName(QStringLiteral("primary"));
    m_buttons->addWidget(button);
}

} // namespace moire::widgets
