// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/connection.h"

#include <memory>
#include <string>
#include <vector>

namespace moire::live {

/// A daemon as one side of a live pair sees it: what it needs of a wire::Connection, which tests
/// play without a socket. Any thread may call; requests block as wire::Connection's do.
class RunHost
{
public:
    virtual ~RunHost() = default;
    virtual std::string address() const = 0;
    virtual wire::LinkState link() const = 0;
    virtual Error trouble() const = 0;
    virtual Result<wire::Queued> run(const wire::RunRequest& request) = 0;
    virtual Result<wire::RunState> runState(const std::string& run) = 0;
    virtual Result<std::vector<wire::SampleBegin>> prompts(const std::string& run) = 0;
    virtual Result<void> feed(const wire::Feed& feed) = 0;
    virtual Result<void> cancel(const std::string& run) = 0;
    virtual Result<std::unique_ptr<wire::RunStream>> stream(const std::string& run,
                                                            const wire::StreamOptions& options) = 0;
};

/// The daemon behind a connection, which others may use too.
std::shared_ptr<RunHost> hostOf(std::shared_ptr<wire::Connection> connection, std::string address);

} // namespace moire::live
