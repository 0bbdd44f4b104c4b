// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/plot/look.h"

#include <QString>
#include <QWidget>

class QBoxLayout;
class QLabel;
class QProgressBar;

namespace moire::widgets {

/// What stands in a panel or window that has nothing to show: what is the case, and what to do.
class StateView : public QWidget
{
    Q_OBJECT
public:
    explicit StateView(const Look& look, QWidget* parent = nullptr);

    void setState(const QString& title, const QString& sentence, const QString& hint);
    /// A picture above the title, which is then set large.
    void setPicture(const QPixmap& picture);
    /// 0 … 1; negative: no bar.
    void setProgress(double share);
    /// Buttons stand in a row below the text, in the order added.
    void addAction(QAction* action, bool primary);

private:
    void restyle();

    const Look& m_look;
    QLabel* m_picture;
    QLabel* m_title;
    QLabel* m_sentence;
    QLabel* m_hint;
    QProgressBar* m_progress;
    QBoxLayout* m_buttons;
};

} // namespace moire::widgets
