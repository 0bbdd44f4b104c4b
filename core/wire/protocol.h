// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

/// Names and numbers of PROTOCOL.md, and nothing else; a test holds the two equal.
namespace moire::wire {

inline constexpr int protocolVersion = 1;
inline constexpr int runFormat = 1;
inline constexpr int defaultPort = 7431;
inline constexpr std::string_view zapDomain = "moire";

inline constexpr std::size_t maxHeaderBytes = std::size_t{16} << 20U;
inline constexpr std::size_t maxFrameBytes = std::size_t{1} << 30U;
inline constexpr std::size_t maxFrames = 65536;
inline constexpr std::size_t maxNesting = 16;
inline constexpr std::size_t maxHeaderItems = std::size_t{1} << 22U;
inline constexpr std::size_t maxRequestHeaderBytes = std::size_t{1} << 20U;
inline constexpr std::size_t maxRequestHeaderItems = std::size_t{1} << 18U;
inline constexpr std::size_t maxRequestFrameBytes = std::size_t{64} << 20U;
inline constexpr std::size_t maxRequestBytes = std::size_t{256} << 20U;
inline constexpr std::size_t rowsMessageBytes = std::size_t{4} << 20U;
inline constexpr std::uint64_t maxCredit = std::uint64_t{1} << 62U;
inline constexpr std::size_t streamWindowBytes = std::size_t{8} << 20U;
inline constexpr std::size_t maxBroadcastBytes = std::size_t{256} << 20U;
inline constexpr std::size_t maxStreams = 64;
inline constexpr std::size_t maxClients = 64;
inline constexpr std::size_t maxQueue = 64;
inline constexpr unsigned maxFaults = 16;
inline constexpr int silenceSeconds = 15;
inline constexpr int sessionSeconds = 120;

/// Requests (client to daemon) and their replies, on control.
namespace type {
inline constexpr std::string_view hello = "hello";
inline constexpr std::string_view welcome = "welcome";
inline constexpr std::string_view models = "models";
inline constexpr std::string_view taps = "taps";
inline constexpr std::string_view estimate = "estimate";
inline constexpr std::string_view run = "run";
inline constexpr std::string_view queued = "queued";
inline constexpr std::string_view runs = "runs";
inline constexpr std::string_view runState = "run-state";
inline constexpr std::string_view prompts = "prompts";
inline constexpr std::string_view feed = "feed";
inline constexpr std::string_view fed = "fed";
inline constexpr std::string_view cancel = "cancel";
inline constexpr std::string_view cancelled = "cancelled";
inline constexpr std::string_view forget = "forget";
inline constexpr std::string_view forgotten = "forgotten";
inline constexpr std::string_view status = "status";
inline constexpr std::string_view goodbye = "goodbye";
inline constexpr std::string_view farewell = "farewell";
inline constexpr std::string_view refused = "refused";
// Messages of a run.
inline constexpr std::string_view begin = "begin";
inline constexpr std::string_view sample = "sample";
inline constexpr std::string_view tokens = "tokens";
inline constexpr std::string_view rows = "rows";
inline constexpr std::string_view event = "event";
inline constexpr std::string_view sampleEnd = "sample-end";
inline constexpr std::string_view finish = "finish";
inline constexpr std::string_view broken = "broken";
inline constexpr std::string_view gap = "gap";
// Stream.
inline constexpr std::string_view open = "open";
inline constexpr std::string_view credit = "credit";
inline constexpr std::string_view close = "close";
inline constexpr std::string_view ping = "ping";
inline constexpr std::string_view opened = "opened";
inline constexpr std::string_view message = "message";
inline constexpr std::string_view starved = "starved";
inline constexpr std::string_view end = "end";
inline constexpr std::string_view pong = "pong";
} // namespace type

/// Why a request was refused.
namespace reason {
inline constexpr std::string_view version = "version";
inline constexpr std::string_view notAuthorised = "not-authorised";
inline constexpr std::string_view noHello = "no-hello";
inline constexpr std::string_view busy = "busy";
inline constexpr std::string_view notFound = "not-found";
inline constexpr std::string_view invalid = "invalid";
inline constexpr std::string_view unsupported = "unsupported";
inline constexpr std::string_view tooLarge = "too-large";
inline constexpr std::string_view noSpace = "no-space";
inline constexpr std::string_view stopping = "stopping";
inline constexpr std::string_view internal = "internal";
} // namespace reason

/// States of a run.
namespace state {
inline constexpr std::string_view queued = "queued";
inline constexpr std::string_view loading = "loading";
inline constexpr std::string_view running = "running";
inline constexpr std::string_view waiting = "waiting";
inline constexpr std::string_view finished = "finished";
inline constexpr std::string_view cancelled = "cancelled";
inline constexpr std::string_view failed = "failed";
inline constexpr std::string_view lost = "lost";
} // namespace state

/// Kinds of a `rows` message's frames.
namespace frame {
inline constexpr std::string_view rows = "rows";
inline constexpr std::string_view digests = "digests";
inline constexpr std::string_view counts = "counts";
inline constexpr std::string_view statistics = "statistics";
inline constexpr std::string_view topIds = "top-ids";
inline constexpr std::string_view topValues = "top-values";
inline constexpr std::string_view topLogSumExp = "top-lse";
inline constexpr std::string_view topMass = "top-mass";
inline constexpr std::string_view askedIds = "asked-ids";
inline constexpr std::string_view askedValues = "asked-values";
inline constexpr std::string_view routeIds = "route-ids";
inline constexpr std::string_view routeWeights = "route-weights";
inline constexpr std::string_view routeLogits = "route-logits";
inline constexpr std::string_view routeScores = "route-scores";
inline constexpr std::string_view values = "values";
} // namespace frame

} // namespace moire::wire
