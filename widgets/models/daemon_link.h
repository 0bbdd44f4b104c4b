// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/wire/connection.h"
#include "widgets/jobs/latest_job.h"
#include "widgets/models/live_plan.h"

#include <QObject>
#include <QTimer>

#include <memory>
#include <optional>
#include <vector>

namespace moire::widgets {

/// A form's link to one daemon: is it there, which models has it, what would a run take. Nothing of
/// it waits in the GUI thread.
class DaemonLink : public QObject
{
    Q_OBJECT
public:
    explicit DaemonLink(QObject* parent = nullptr);

    /// Drops the link that is there and tries another; an empty address only drops it.
    void connectTo(const DaemonAddress& address);
    const DaemonAddress& address() const { return m_address; }

    enum class State
    {
        None,
        Connecting,
        Connected,
        Lost,
        Refused
    };
    State state() const { return m_state; }
    /// What the state means, in words: who answered, or why nobody does.
    QString sentence() const;
    const std::vector<wire::ModelEntry>& models() const { return m_models; }

    /// Asks what the request would take; estimated() tells. A newer question replaces the one
    /// before.
    void askEstimate(const wire::RunRequest& request);

    /// For the session that begins with it; null when there is none.
    std::shared_ptr<wire::Connection> connection() const { return m_connection; }

Q_SIGNALS:
    void changed();
    void modelsChanged();
    void estimated(const moire::Result<moire::wire::Estimate>& estimate);

private:
    void poll();
    void askModels();

    DaemonAddress m_address;
    std::shared_ptr<wire::Connection> m_connection;
    State m_state = State::None;
    Error m_trouble;
    std::vector<wire::ModelEntry> m_models;
    QString m_epoch; ///< of the daemon whose models are known
    QTimer m_timer;
    LatestJob m_modelsJob;
    LatestJob m_estimateJob;
};

/// The options of a connection as an address has them. Errors: those of reading the keys.
Result<wire::ConnectionOptions> connectionOptions(const DaemonAddress& address);

} // namespace moire::widgets
