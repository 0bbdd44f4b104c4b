// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/plot/look.h"
#include "widgets/views/state_view.h"

#include <QWidget>

class QHBoxLayout;
class QStackedLayout;

namespace moire::widgets {

/// A card with a title, a remark at the right and one body, which can give way to a state.
class Panel : public QWidget
{
    Q_OBJECT
public:
    Panel(const Look& look, const QString& title, QWidget* body, QWidget* parent = nullptr);

    void setTitle(const QString& title);
    void setNote(const QString& note);
    /// Without a frame of its own it is a part of another card.
    void setFramed(bool framed);
    /// A control at the right end of the title line.
    void addHeaderWidget(QWidget* widget);
    void showBody();
    void showState(const QString& title, const QString& sentence, const QString& hint);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    static constexpr int headerHeight = 32;

    const Look& m_look;
    QString m_title;
    QString m_note;
    bool m_framed = true;
    QWidget* m_body;
    StateView* m_state;
    QStackedLayout* m_stack;
    QHBoxLayout* m_header;
};

} // namespace moire::widgets
