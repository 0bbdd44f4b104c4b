// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/diff/live_sides.h"

#include "app/diff/live_request.h"
#include "app/diff/open_run.h"
#include "core/base/text.h"
#include "core/store/target_path.h"
#include "core/store/writer.h"
#include "core/wire/address.h"

#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

namespace moire::app {

namespace {

constexpr std::int64_t usualTokens = 32;

/// One side, as the command line has it.
struct GivenSide
{
    std::string where, model, run, options, serverKey, save;
};

Error withHint(Error ofKey)
{
    if (ofKey.hint.empty())
        ofKey.hint = "Name a file that moire-capture keygen wrote";
    return ofKey;
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
    if (!given.key.empty()) {
        auto own = wire::readKeyPair(given.key);
        if (!own)
            return withHint(own.error());
        options.own = *std::move(own);
    }
    if (!side.serverKey.empty()) {
        auto pinned = wire::readPublicKey(side.serverKey);
        if (!pinned)
            return withHint(pinned.error());
        options.serverKey = *std::move(pinned);
    }
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
    constexpr std::array<std::string_view, 3> prompts{"text", "prompts", "ids"};
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
            if (auto added = addFile("prompts", given.prompts, request); !added)
                return added.error();
    }
    if (auto added = addOptions(side.options, request); !added)
        return added.error();
    bool asks = which == live::Which::Target;
    for (const std::string_view prompt : prompts)
        asks = asks || request.options.contains(std::string(prompt));
    if (!asks)
        return Error{Errc::Invalid, "there is no prompt", {}, "Give one with --text or --prompts"};
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
