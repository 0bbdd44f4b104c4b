// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/run.h"

namespace moire::diff {

/// Whether the run chose its own tokens: what its environment says of the replay, else what its
/// rows do, of which none may be forced or read another run's prefix.
bool choseOwnTokens(const trace::Run& run);

/// Whether the run only scored given tokens, told likewise.
bool scoredGivenTokens(const trace::Run& run);

} // namespace moire::diff
