// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/run.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace moire::diff {

/// How a site names a sample of its run: the id, with "#2" behind it for repeat 2. Where a run has
/// an id and repeat twice, the number counts the samples of that id before it.
std::string sampleName(const trace::Run& run, trace::SampleIndex sample);

/// Those of all samples, in one pass.
std::vector<std::string> sampleNames(const trace::Run& run);

/// The sample of that name. An id that itself reads "x#2" is meant before repeat 2 of x.
std::optional<trace::SampleIndex> findSampleNamed(const trace::Run& run, std::string_view name);

} // namespace moire::diff
