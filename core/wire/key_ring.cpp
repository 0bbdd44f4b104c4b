// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/key_ring.h"

#include "core/wire/keys.h"
#include "core/wire/protocol.h"

#include <zmq.h>

#include <algorithm>
#include <array>
#include <utility>

namespace moire::wire {

namespace {

constexpr std::chrono::seconds period{10};
constexpr unsigned promptRefusals = 8; ///< in a period; the others wait
constexpr std::chrono::seconds lateness{1};
/// Refusals that wait; beyond it they are given at once, so that this stays small.
constexpr std::size_t mostLate = 256;

constexpr std::size_t curveKeyBytes = 32;
constexpr std::size_t curveKeyText = 41;

// Places of a ZAP request's frames.
enum Part : std::size_t
{
    Version,
    Request,
    Domain,
    Address,
    Identity,
    Mechanism,
    Credentials,
    Parts
};

std::string keyOf(const ZapDesk::Frames& request)
{
    if (request.size() != Parts || request[Mechanism] != "CURVE" || request[Domain] != zapDomain
        || request[Credentials].size() != curveKeyBytes)
        return {};
    std::array<char, curveKeyText> text{};
    zmq_z85_encode(text.data(), reinterpret_cast<const std::uint8_t*>(request[Credentials].data()),
                   curveKeyBytes);
    return text.data();
}

} // namespace

KeyRing::KeyRing(std::filesystem::path folder, Say say)
    : m_folder(std::move(folder))
    , m_say(std::move(say))
{
    read();
}

void KeyRing::read()
{
    std::vector<Error> troubles;
    auto keys = soundKeys(m_folder, troubles);
    std::set<std::string> said;
    for (const Error& trouble : troubles) {
        said.insert(trouble.text());
        if (!m_troubles.contains(trouble.text()) && m_say)
            m_say(trouble.text());
    }
    m_troubles = std::move(said);
    m_lost = m_lost || !std::includes(keys.begin(), keys.end(), m_keys.begin(), m_keys.end());
    m_keys = std::move(keys);
}

std::string ZapDesk::ask(const std::string& who, const Frames& request, Time now)
{
    m_keys.read();
    const std::string key = keyOf(request);
    const bool accepted = !key.empty() && m_keys.keys().contains(key);
    Frames answer{who,
                  "",
                  "1.0",
                  request.size() > Request ? request[Request] : std::string(),
                  accepted ? "200" : "400",
                  accepted ? "" : "not authorised",
                  accepted ? key : std::string(),
                  ""};
    if (accepted) {
        m_now.push_back(std::move(answer));
        return {};
    }
    if (now - m_periodBegan >= period) {
        m_periodBegan = now;
        m_refused = 0;
    }
    if (++m_refused > promptRefusals && m_late.size() < mostLate)
        m_late.push_back({now + lateness, std::move(answer)});
    else
        m_now.push_back(std::move(answer));
    return key.empty() ? "a peer without a key was refused"
                       : "the key " + fingerprintOf(key) + " was refused: it is not authorised";
}

std::vector<ZapDesk::Frames> ZapDesk::due(Time now)
{
    std::vector<Frames> answers(std::make_move_iterator(m_now.begin()),
                                std::make_move_iterator(m_now.end()));
    m_now.clear();
    while (!m_late.empty() && m_late.front().at <= now) {
        answers.push_back(std::move(m_late.front().answer));
        m_late.pop_front();
    }
    return answers;
}

} // namespace moire::wire
