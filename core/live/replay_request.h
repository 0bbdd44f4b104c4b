// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/run.h"
#include "core/wire/requests.h"
#include "core/wire/run_messages.h"

#include <cstdint>
#include <vector>

/// What a target is sent so that it scores what the reference chose (PROTOCOL.md, 3: replay-from).
namespace moire::live {

/// The most tokens that a response of a run may have which has `rows` rows at most: rows of a
/// sample are those of its prompt and one less than its response, and all samples may have as many.
std::uint32_t longestResponse(std::uint64_t rows, const std::vector<wire::SampleBegin>& prompts);

/// Makes `request` score tokens that arrive while it runs, at most so many a sample.
void replayLive(const trace::Environment& reference, const std::vector<wire::SampleBegin>& prompts,
                std::uint32_t tokens, wire::RunRequest& request);

/// Makes `request` score the tokens of a run that is there. Sends the tokens and how each row was
/// made, no values.
void replayRun(const trace::Run& reference, wire::RunRequest& request);

} // namespace moire::live
