// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/capture/remote_arguments.h"

#include "app/capture/commands.h"
#include "app/terminal/arguments.h"
#include "core/base/text.h"
#include "core/wire/address.h"
#include "core/wire/link_keys.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace moire::app {

namespace {

/// A daemon that is there answers within it.
constexpr std::chrono::seconds moment{5};

} // namespace

void remark(const std::string& sentence)
{
    std::fprintf(stderr, "%s: %s\n", programName, base::visibleText(sentence).c_str());
}

void addRemoteOptions(CLI::App& command, RemoteArguments& a, const std::string& waitHelp,
                      std::uint32_t wait)
{
    constexpr auto group = "Daemon";
    constexpr std::uint64_t mostWait = 7UL * 24 * 3600;
    a.wait = wait;
    command
        .add_option("--from", a.from,
                    "The daemon: tcp://HOST:PORT, HOST:PORT or HOST (the port is 7431)")
        ->type_name("ADDRESS")
        ->required()
        ->group(group);
    command.add_option("--key", a.key, "One's own key, NAME.key of moire-capture keygen")
        ->type_name("FILE")
        ->group(group);
    command
        .add_option("--server-key", a.serverKey,
                    "The daemon's public key, or the file that holds it")
        ->type_name("KEY")
        ->group(group);
    command
        .add_flag("--insecure", a.insecure,
                  "Reach another machine without keys and without a tunnel")
        ->group(group);
    command.add_option("--wait", a.wait, waitHelp)
        ->type_name("SECONDS")
        ->check(wholeNumber(0, mostWait))
        ->capture_default_str()
        ->group(group);
}

Result<std::unique_ptr<wire::Connection>> connectTo(const RemoteArguments& arguments)
{
    wire::ConnectionOptions options;
    options.address = arguments.from;
    options.program = std::string(programName) + " " MOIRE_VERSION;
    options.insecure = arguments.insecure;
    if (auto read = wire::readLinkKeys(arguments.key, arguments.serverKey, options); !read)
        return read.error();
    auto connection = wire::Connection::open(options);
    const auto address = wire::readAddress(arguments.from);
    if (connection && !options.own && address && !address->isLocal())
        remark("the link to " + arguments.from
               + " has no keys: anyone on the way can read and change what travels.");
    return connection;
}

Result<wire::Welcome> awaitDaemon(wire::Connection& connection, const RemoteArguments& arguments)
{
    const std::chrono::milliseconds wait =
        std::max<std::chrono::seconds>(moment, std::chrono::seconds(arguments.wait));
    connection.setPatience(wait);
    auto welcome = connection.waitUntilConnected();
    connection.setPatience(wire::Connection::defaultPatience);
    return welcome;
}

} // namespace moire::app
