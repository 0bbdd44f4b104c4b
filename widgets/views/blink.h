// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QObject>

class QWidget;

namespace moire::widgets {

/// Tells while the key B is held down in a window, wherever the focus is except in text fields: an
/// astronomer's blink comparator.
class Blink : public QObject
{
    Q_OBJECT
public:
    explicit Blink(QWidget& window);

Q_SIGNALS:
    void held(bool down);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void set(bool down);

    QWidget& m_window;
    bool m_down = false;
};

} // namespace moire::widgets
