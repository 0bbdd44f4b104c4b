// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/blink.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLineEdit>

namespace moire::widgets {

Blink::Blink(QWidget& window)
    : QObject(&window)
    , m_window(window)
{
    qApp->installEventFilter(this);
}

void Blink::set(bool down)
{
    if (down == m_down)
        return;
    m_down = down;
    Q_EMIT held(down);
}

bool Blink::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::WindowDeactivate && watched == &m_window) {
        set(false); // the release goes to another window
        return false;
    }
    if (event->type() != QEvent::KeyPress && event->type() != QEvent::KeyRelease)
        return false;
    auto* widget = qobject_cast<QWidget*>(watched);
    const auto* key = static_cast<QKeyEvent*>(event);
    if (widget == nullptr || widget->window() != &m_window || key->key() != Qt::Key_B
        || key->modifiers() != Qt::NoModifier || qobject_cast<QLineEdit*>(watched) != nullptr)
        return false;
    if (!key->isAutoRepeat())
        set(event->type() == QEvent::KeyPress);
    return true;
}

} // namespace moire::widgets
