// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/models/live_session.h"
#include "widgets/models/open_runs.h"
#include "widgets/plot/look.h"

#include <QObject>
#include <QString>

#include <memory>

class QWidget;

namespace moire::gui {

/// The live comparison of a window: asks what to run, runs it, hands on what can be shown. One at a
/// time; a new one takes the place of that before.
class LiveControl : public QObject
{
    Q_OBJECT
public:
    LiveControl(const widgets::Look& look, QWidget& window);

    /// Opens the form, filled with what was run the last time.
    void ask();
    /// Errors are told by failed().
    void start(const widgets::LivePlan& plan, const widgets::Judging& judging);
    /// Ends what is running and forgets it: another comparison is shown.
    void close();
    void cancel();
    /// Asks for a name and copies one side there.
    void askToSave(live::Which which);

    widgets::LiveSession* session() const { return m_session.get(); }
    bool isRunning() const { return m_session && !m_session->isOver(); }
    /// What the next live comparison is judged by.
    void setJudging(const widgets::Judging& judging) { m_judging = judging; }

    /// Keeps the form between starts of the program, in the user's settings.
    void rememberPlan();

Q_SIGNALS:
    /// Another session, or null.
    void sessionChanged(moire::widgets::LiveSession* session);
    /// The first rows of a session can be shown.
    void opened(const moire::widgets::ComparedPointer& compared);
    void grown(const moire::widgets::ComparedPointer& compared);
    void failed(const moire::Error& error);
    void over();
    void noticed(const QString& sentence);

private:
    void take(const widgets::ComparedPointer& compared);

    const widgets::Look& m_look;
    QWidget& m_window;
    widgets::LivePlan m_plan;
    widgets::Judging m_judging;
    bool m_remembers = false;
    bool m_shown = false; ///< opened() was told of this session
    std::unique_ptr<widgets::LiveSession> m_session;
};

} // namespace moire::gui
