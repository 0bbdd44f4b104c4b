// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/tab_panel.h"

#include "widgets/views/paint.h"

#include <QVBoxLayout>

namespace moire::widgets {

TabPanel::TabPanel(const Look& look, QWidget* body, QWidget* parent)
    : QWidget(parent)
    , m_look(look)
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(1, 1, 1, Look::step);
    layout->addWidget(body);
    connect(&look, &Look::changed, this, qOverload<>(&QWidget::update));
}

void TabPanel::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    paint::card(painter, m_look.theme(), rect());
}

} // namespace moire::widgets
