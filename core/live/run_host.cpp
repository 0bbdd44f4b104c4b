// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/live/run_host.h"

#include <utility>

namespace moire::live {

namespace {

class ConnectedHost : public RunHost
{
public:
    ConnectedHost(std::shared_ptr<wire::Connection> connection, std::string address)
        : m_connection(std::move(connection))
        , m_address(std::move(address))
    {}
    std::string address() const override { return m_address; }
    wire::LinkState link() const override { return m_connection->link(); }
    Error trouble() const override { return m_connection->trouble(); }
    Result<wire::Queued> run(const wire::RunRequest& request) override
    {
        return m_connection->run(request);
    }
    Result<wire::RunState> runState(const std::string& run) override
    {
        return m_connection->runState(run);
    }
    Result<std::vector<wire::SampleBegin>> prompts(const std::string& run) override
    {
        return m_connection->prompts(run);
    }
    Result<void> feed(const wire::Feed& feed) override { return m_connection->feed(feed); }
    Result<void> cancel(const std::string& run) override { return m_connection->cancel(run); }
    Result<std::unique_ptr<wire::RunStream>> stream(const std::string& run,
                                                    const wire::StreamOptions& options) override
    {
        return m_connection->stream(run, options);
    }

private:
    std::shared_ptr<wire::Connection> m_connection;
    std::string m_address;
};

} // namespace

std::shared_ptr<RunHost> hostOf(std::shared_ptr<wire::Connection> connection, std::string address)
{
    return std::make_shared<ConnectedHost>(std::move(connection), std::move(address));
}

} // namespace moire::live
