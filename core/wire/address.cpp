// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/address.h"

#include "core/base/text.h"
#include "core/wire/protocol.h"

#include <charconv>
#include <string_view>
#include <system_error>

namespace moire::wire {

namespace {

constexpr std::string_view tcp = "tcp://";
constexpr std::string_view ipc = "ipc://";
constexpr std::size_t longestPath = 107; ///< of a Unix socket, without the end
constexpr int mostPort = 65535;

Error noAddress(const std::string& text)
{
    return {Errc::Invalid,
            "'" + base::visibleText(text) + "' is no address",
            {},
            "Write tcp://HOST:PORT, such as tcp://127.0.0.1:7431"};
}

bool isHost(std::string_view host)
{
    constexpr std::size_t longest = 253;          ///< RFC 1035
    constexpr std::string_view others = ".-_:%*"; // IPv6 has colons, and a zone behind %
    if (host.empty() || host.size() > longest)
        return false;
    for (const char c : host)
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
              || others.find(c) != std::string_view::npos))
            return false;
    return true;
}

} // namespace

std::string Address::text() const
{
    if (scheme == "ipc")
        return std::string(ipc) + host;
    const bool brackets = host.find(':') != std::string::npos;
    return std::string(tcp) + (brackets ? '[' + host + ']' : host) + ':'
           + (port == 0 ? "*" : std::to_string(port));
}

bool Address::isLocal() const
{
    return scheme == "ipc" || host == "localhost" || host == "::1" || host.starts_with("127.");
}

Result<Address> readAddress(const std::string& text)
{
    if (text.starts_with(ipc)) {
        Address address{"ipc", text.substr(ipc.size()), 0};
        if (address.host.empty() || address.host.size() > longestPath
            || address.host.find('\0') != std::string::npos)
            return noAddress(text);
        return address;
    }
    std::string_view rest = text;
    if (rest.starts_with(tcp))
        rest.remove_prefix(tcp.size());
    Address address{"tcp", {}, defaultPort};
    std::string_view port;
    if (rest.starts_with('[')) {
        const std::size_t end = rest.find(']');
        if (end == std::string_view::npos)
            return noAddress(text);
        address.host = rest.substr(1, end - 1);
        rest.remove_prefix(end + 1);
        if (!rest.empty() && !rest.starts_with(':'))
            return noAddress(text);
        port = rest.empty() ? rest : rest.substr(1);
        if (!rest.empty() && port.empty())
            return noAddress(text);
    } else {
        const std::size_t colon = rest.find(':');
        address.host = rest.substr(0, colon);
        if (colon != std::string_view::npos) {
            port = rest.substr(colon + 1);
            if (port.empty())
                return noAddress(text);
        }
    }
    if (!isHost(address.host))
        return noAddress(text);
    if (port == "*" || port == "0") {
        address.port = 0;
    } else if (!port.empty()) {
        const auto [end, failed] =
            std::from_chars(port.data(), port.data() + port.size(), address.port);
        if (failed != std::errc() || end != port.data() + port.size() || address.port < 1
            || address.port > mostPort)
            return noAddress(text);
    }
    return address;
}

Result<Address> besideControl(const Address& control, const std::string& named)
{
    auto address = readAddress(named);
    if (!address || address->scheme != control.scheme
        || (address->scheme == "tcp" && address->port == 0))
        return Error{Errc::Damaged,
                     "the daemon names a socket that cannot be reached: "
                         + base::visibleText(named),
                     {},
                     {}};
    if (address->scheme == "tcp")
        address->host = control.host;
    return address;
}

} // namespace moire::wire
