// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/weights.h"
#include "core/base/file.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace moire::capture {

/// Position of a name in a list that is sorted by name; entries.size() when it is not there.
std::size_t findEntry(const std::vector<Weights::Entry>& entries, std::string_view name);

/// A name "<…>.mlp.experts.<expert>.<projection>.weight" for one expert of the tensor
/// "<…>.mlp.experts.<fused>".
std::string expertName(std::string_view fused, std::size_t expert, std::string_view projection);

/// Bytes of a mapped file as a weight of the given type and shape: the mapping itself where it is
/// aligned, else a copy. Errors: Damaged when the file has shrunk, Internal when memory runs out.
Result<Weight> weightFromFile(const std::shared_ptr<const base::MappedFile>& file,
                              std::uint64_t offset, std::uint64_t size,
                              const Weights::Entry& entry);

/// "the file has become shorter while it was in use".
Error shrunkError(const base::MappedFile& file);

} // namespace moire::capture
