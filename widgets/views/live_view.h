// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/models/live_session.h"
#include "widgets/plot/look.h"
#include "widgets/views/state_view.h"

#include <QPointer>
#include <QWidget>

#include <array>

class QLabel;
class QProgressBar;
class QPushButton;
class QStackedLayout;

namespace moire::widgets {

/// The two runs of a live comparison on their way: state, progress, rate, what waits, what was
/// lost. A link that is lost is a state like others.
class LiveView : public QWidget
{
    Q_OBJECT
public:
    explicit LiveView(const Look& look, QWidget* parent = nullptr);

    /// Null: there is none; the view says how to begin one.
    void setSession(LiveSession* session);
    /// For the state without a session.
    void addAction(QAction* action);

Q_SIGNALS:
    void cancelRequested();
    void saveRequested(moire::live::Which which);

private:
    /// The widgets of one run.
    struct Row
    {
        QLabel* name;
        QLabel* state;
        QProgressBar* progress;
        QLabel* facts;
        QPushButton* save;
    };
    Row makeRow(const QString& title, live::Which which);
    QWidget* makeBody();
    void refresh();
    void showRow(const Row& row, live::Which which);
    void restyle();

    const Look& m_look;
    QPointer<LiveSession> m_session;
    StateView* m_none;
    QStackedLayout* m_stack;
    std::array<Row, 2> m_rows{};
    QLabel* m_together;
    QPushButton* m_cancel;
};

/// What a side's state is called, with what matters then: "running", "waits for this client", "link
/// lost, trying again".
QString stateText(const live::SideStatus& status);
/// The same, and what the trouble is where there is one.
QString reasonedText(const live::SideStatus& status);
/// Rate, what waits, what was lost, as one line.
QString trafficText(const live::SideStatus& status);

} // namespace moire::widgets
