// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/diff/live_sides.h"

#include "app/diff/open_run.h"
#include "core/base/text.h"
#include "core/live/run_options.h"
#include "core/store/target_path.h"
#include "core/store/writer.h"
#include "core/wire/address.h"
#include "core/wire/link_keys.h"

#include <cstdio>
#include <optional>
#include <utility>

namespace moire::app {

namespace {

constexpr std::int64_t usualTokens = 32;

/// One side, as the command line has it.
struct GivenSide
{
    std::string where, model, run, options, serverKey, save;
};

std::optional<std::string> unlessEmpty(const std::string& text)
{
    return text.empty() ? std::nullopt : std::optional(text);
}

Result<std::shared_ptr<live::RunHost>> daemonAt(const GivenSide& side, const LiveArguments& given)
{
    wire::ConnectionOptions options;
    options.address = side.where;
    options.program = "moire-diff " MOIRE_VERSION;
    options.insecure = given.insecure;
    const auto address = wire::readAddress(side.where);
    if (!address)
        return Error{Errc::Invalid,
                     "'" + side.where + "' is neither a capture nor a daemon's address",
                     {},
                     "Name a file that is there, or write tcp://HOST:PORT"};
    if (auto read =
            wire::readLinkKeys(unlessEmpty(given.key), unlessEmpty(side.serverKey), options);
        !read)
        return read.error();
    auto connection = wire::Connection::open(options);
    if (!connection)
        return connection.error();
    if (!options.own && !address->isLocal())
        remark("the link to " + side.where
               + " has no keys: anyone on the way can read and change what travels.");
    return live::hostOf(std::move(*connection), side.where);
}

/// What is asked of a daemon. A target scores, and is told prompts and length by the reference.
Result<wire::RunRequest> requestOf(const GivenSide& side, const CompareArguments& compare,
                                   const LiveArguments& given, live::Which which)
{
    wire::RunRequest request;
    request.model = side.model;
    if (!given.level.empty())
        request.options["level"] = given.level;
    if (!compare.alignment.tapPatterns.empty())
        request.options["taps"] = compare.alignment.tapPatterns;
    if (which == live::Which::Reference) {
        request.options["max-new"] =
            given.maxNew ? static_cast<std::int64_t>(*given.maxNew) : usualTokens;
        if (given.text)
            request.options["text"] = *given.text;
        if (!given.prompts.empty())
            if (auto added = live::addFile("prompts", given.prompts, request); !added)
                return added.error();
    }
    if (auto added = live::addOptions(side.options, request); !added)
        return added.error();
    if (which == live::Which::Reference)
        if (auto checked = live::checkPrompt(request); !checked)
            return checked.error();
    return request;
}

Result<live::SideOptions> sideOf(const GivenSide& side, const CompareArguments& compare,
                                 const LiveArguments& given, live::Which which)
{
    live::SideOptions options;
    if (isCapture(side.where)) {
        if (const auto opened = openRun(side.where); !opened) // a slip shows before a run begins
            return opened.error();
        options.file = side.where;
        return options;
    }
    options.run = side.run;
    if (options.run.empty()) {
        auto request = requestOf(side, compare, given, which);
        if (!request)
            return request.error();
        options.request = std::move(*request);
    }
    if (!side.save.empty())
        if (auto prepared = store::prepareTarget(side.save, store::partialPathOf(side.save));
            !prepared)
            return prepared.error();
    options.record = side.save;
    auto daemon = daemonAt(side, given);
    if (!daemon)
        return daemon.error();
    options.host = std::move(*daemon);
    return options;
}

} // namespace

Result<live::PairOptions> sidesOf(const CompareArguments& compare, const LiveArguments& live)
{
    auto reference = sideOf({compare.reference, live.model, live.referenceRun,
                             live.referenceOptions, live.serverKey, live.saveReference},
                            compare, live, live::Which::Reference);
    if (!reference)
        return reference.error();
    auto target = sideOf({compare.target, live.targetModel.empty() ? live.model : live.targetModel,
                          live.targetRun, live.targetOptions,
                          live.targetServerKey.empty() ? live.serverKey : live.targetServerKey,
                          live.saveTarget},
                         compare, live, live::Which::Target);
    if (!target)
        return target.error();
    return live::PairOptions{std::move(*reference), std::move(*target)};
}

void remark(const std::string& sentence)
{
    std::fprintf(stderr, "moire-diff: %s\n", base::visibleText(sentence).c_str());
}

} // namespace moire::app
