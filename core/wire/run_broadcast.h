// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/flight.h"
#include "core/wire/run_log.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace moire::wire {

/// What goes out on the data socket (PROTOCOL.md, 6): every message of a log once, as long as it is
/// in memory; whoever misses one asks for it. Nobody is waited for.
class RunBroadcast
{
public:
    RunBroadcast();

    /// Any thread.
    void add(std::shared_ptr<RunLog> log);

    // By the server's thread, with the socket's handle.
    /// Takes who subscribes to what.
    void hear(void* socket);
    /// Sends what has come; true when there may be more to send now.
    bool pump(void* socket);
    /// The subscribers have gone.
    void forget() { m_topics.clear(); }

private:
    struct Entry
    {
        std::shared_ptr<RunLog> log;
        std::uint64_t next = 0;
    };
    bool isWanted(const std::string& topic) const;

    std::mutex m_mutex;
    std::vector<Entry> m_added;
    std::vector<Entry> m_runs;
    std::set<std::string> m_topics; ///< beginnings of topics
    std::shared_ptr<Flight> m_flight;
};

} // namespace moire::wire
