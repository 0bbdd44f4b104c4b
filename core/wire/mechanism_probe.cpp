// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/mechanism_probe.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <memory>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace moire::wire {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds patience{1};
/// A greeting is signature (10 bytes), version (2), mechanism (20), role and padding.
constexpr std::size_t greetingBytes = 64;
constexpr std::size_t mechanismAtByte = 12;
constexpr std::size_t mechanismBytes = 20;
/// So much of ours makes the peer send all of its own: it waits for the version, not for the
/// mechanism.
constexpr std::array<unsigned char, mechanismAtByte> opening{0xFF, 0, 0, 0,    0, 0,
                                                             0,    0, 1, 0x7F, 3, 0};

class Descriptor
{
public:
    explicit Descriptor(int number)
        : m_number(number)
    {}
    ~Descriptor()
    {
        if (m_number >= 0)
            ::close(m_number);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const { return m_number; }

private:
    int m_number;
};

/// Waits until the descriptor is ready for these events; false when it is too late.
bool becomes(int descriptor, short events, Clock::time_point until)
{
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd waiting{descriptor, events, 0};
    return left > 0 && ::poll(&waiting, 1, static_cast<int>(left)) > 0;
}

bool connectTo(int descriptor, const addrinfo& place, Clock::time_point until)
{
    if (::connect(descriptor, place.ai_addr, place.ai_addrlen) == 0)
        return true;
    if (errno != EINPROGRESS || !becomes(descriptor, POLLOUT, until))
        return false;
    int failure = 0;
    socklen_t size = sizeof failure;
    return ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failure, &size) == 0 && failure == 0;
}

} // namespace

std::optional<std::string> mechanismAt(const Address& address)
{
    if (address.scheme != "tcp")
        return std::nullopt;
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    if (::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &wanted, &list)
        != 0)
        return std::nullopt;
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> places(list, &::freeaddrinfo);
    const Clock::time_point until = Clock::now() + patience;
    const Descriptor link(
        ::socket(list->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, list->ai_protocol));
    if (link.number() < 0 || !connectTo(link.number(), *list, until)
        || ::send(link.number(), opening.data(), opening.size(), MSG_NOSIGNAL)
               != static_cast<ssize_t>(opening.size()))
        return std::nullopt;
    std::array<char, greetingBytes> greeting{};
    std::size_t has = 0;
    while (has < greetingBytes && becomes(link.number(), POLLIN, until)) {
        const ssize_t more = ::recv(link.number(), greeting.data() + has, greetingBytes - has, 0);
        if (more <= 0)
            return std::nullopt;
        has += static_cast<std::size_t>(more);
    }
    constexpr std::size_t signatureEnd = 9;
    constexpr std::size_t major = 10;
    if (has < greetingBytes || static_cast<unsigned char>(greeting.front()) != opening.front()
        || static_cast<unsigned char>(greeting[signatureEnd]) != opening[signatureEnd]
        || greeting[major] < opening[major])
        return std::nullopt;
    const char* begin = greeting.data() + mechanismAtByte;
    return std::string(begin, std::find(begin, begin + mechanismBytes, '\0'));
}

} // namespace moire::wire
