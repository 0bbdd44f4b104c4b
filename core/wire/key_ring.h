// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"

#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace moire::wire {

/// Who may connect: the keys of a folder, read anew whenever that is asked for.
class KeyRing
{
public:
    using Say = std::function<void(const std::string&)>;
    /// `say`: files that hold no key, once each time that they change.
    KeyRing(std::filesystem::path folder, Say say);

    void read();
    /// Whether a key that was there before is no longer, since this was asked last.
    bool lostOne() { return std::exchange(m_lost, false); }
    const std::set<std::string>& keys() const { return m_keys; }

private:
    std::filesystem::path m_folder;
    Say m_say;
    std::set<std::string> m_keys;
    std::set<std::string> m_troubles; ///< said already
    bool m_lost = false;
};

/// Answers ZeroMQ's questions (ZAP, RFC 27) whether a key may connect. Refusals beyond a few are
/// answered late, so that asking again and again costs the asker and not the daemon.
class ZapDesk
{
public:
    using Time = std::chrono::steady_clock::time_point;
    using Frames = std::vector<std::string>;

    explicit ZapDesk(KeyRing& keys)
        : m_keys(keys)
    {}

    /// Takes a request, its frames from the version on; `who` is put before the answer. What is to
    /// be said of a refusal, else "".
    std::string ask(const std::string& who, const Frames& request, Time now);
    /// Answers that are due: who, then the frames.
    std::vector<Frames> due(Time now);
    bool waits() const { return !m_late.empty(); }

private:
    struct Late
    {
        Time at{};
        Frames answer;
    };
    KeyRing& m_keys;
    std::deque<Frames> m_now;
    std::deque<Late> m_late;
    Time m_periodBegan{};
    unsigned m_refused = 0; ///< in this period
};

} // namespace moire::wire
