// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/models/daemon_link.h"

#include "core/base/text.h"
#include "core/wire/link_keys.h"

#include <utility>

namespace moire::widgets {

namespace {

constexpr int pollInterval = 150; // ms

QString shown(const std::string& text)
{
    return QString::fromStdString(base::visibleText(text));
}

std::optional<std::string> unlessEmpty(const QString& text)
{
    return text.isEmpty() ? std::nullopt : std::optional(text.toStdString());
}

DaemonLink::State stateOf(wire::LinkState link)
{
    switch (link) {
    case wire::LinkState::Connecting:
        return DaemonLink::State::Connecting;
    case wire::LinkState::Connected:
        return DaemonLink::State::Connected;
    case wire::LinkState::Lost:
        return DaemonLink::State::Lost;
    case wire::LinkState::Refused:
        return DaemonLink::State::Refused;
    }
    return DaemonLink::State::None;
}

} // namespace

Result<wire::ConnectionOptions> connectionOptions(const DaemonAddress& address)
{
    wire::ConnectionOptions options;
    options.address = address.address.trimmed().toStdString();
    options.program = "moire";
    options.insecure = address.insecure;
    if (auto read =
            wire::readLinkKeys(unlessEmpty(address.key), unlessEmpty(address.serverKey), options);
        !read)
        return read.error();
    return options;
}

DaemonLink::DaemonLink(QObject* parent)
    : QObject(parent)
    , m_modelsJob(this)
    , m_estimateJob(this)
{
    m_timer.setInterval(pollInterval);
    connect(&m_timer, &QTimer::timeout, this, &DaemonLink::poll);
}

void DaemonLink::connectTo(const DaemonAddress& address)
{
    m_modelsJob.cancel();
    m_estimateJob.cancel();
    m_connection.reset();
    m_address = address;
    m_models.clear();
    m_epoch.clear();
    m_trouble = {};
    m_state = State::None;
    m_timer.stop();
    if (!address.address.trimmed().isEmpty()) {
        const auto options = connectionOptions(address);
        auto opened = options ? wire::Connection::open(*options)
                              : Result<std::unique_ptr<wire::Connection>>(options.error());
        if (opened) {
            m_connection = std::move(*opened);
            m_state = State::Connecting;
            m_timer.start();
        } else {
            m_trouble = opened.error();
            m_state = State::Refused;
        }
    }
    Q_EMIT modelsChanged();
    Q_EMIT changed();
}

void DaemonLink::poll()
{
    const State state = stateOf(m_connection->link());
    const Error trouble = m_connection->trouble();
    if (state != m_state || trouble.sentence != m_trouble.sentence) {
        m_state = state;
        m_trouble = trouble;
        Q_EMIT changed();
    }
    const auto welcome = m_connection->welcome();
    if (m_state == State::Connected && welcome && shown(welcome->epoch) != m_epoch) {
        m_epoch = shown(welcome->epoch);
        askModels();
    }
}

void DaemonLink::askModels()
{
    m_modelsJob.start([connection = m_connection](std::stop_token) { return connection->models(); },
                      [this](Result<std::vector<wire::ModelEntry>> models) {
                          if (models)
                              m_models = std::move(*models);
                          else
                              m_trouble = models.error();
                          Q_EMIT modelsChanged();
                          Q_EMIT changed();
                      });
}

void DaemonLink::askEstimate(const wire::RunRequest& request)
{
    if (!m_connection)
        return;
    m_estimateJob.start(
        [connection = m_connection, request](std::stop_token) {
            return connection->estimate(request);
        },
        [this](const Result<wire::Estimate>& estimate) { Q_EMIT estimated(estimate); });
}

QString DaemonLink::sentence() const
{
    if (!m_trouble.sentence.empty())
        return shown(m_trouble.text());
    switch (m_state) {
    case State::None:
        return QStringLiteral("Not connected");
    case State::Connecting:
        return QStringLiteral("Connecting…");
    case State::Connected:
        break;
    case State::Lost:
        return QStringLiteral("The link is lost; trying again…");
    case State::Refused:
        return QStringLiteral("Refused");
    }
    const auto welcome = m_connection->welcome();
    if (!welcome)
        return QStringLiteral("Connected");
    return QStringLiteral("%1 · %2 · %3")
        .arg(shown(welcome->program),
             welcome->secure ? QStringLiteral("encrypted") : QStringLiteral("not encrypted"),
             m_models.size() == 1 ? QStringLiteral("1 model")
                                  : QStringLiteral("%1 models").arg(m_models.size()));
}

} // namespace moire::widgets
