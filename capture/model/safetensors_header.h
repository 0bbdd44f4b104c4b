// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"
#include "core/numeric/dtype.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace moire::capture {

/// One tensor as the header of a safetensors file describes it.
struct StoredTensor
{
    std::string name;
    std::string dtypeName;               ///< as spelled in the file
    std::optional<numeric::DType> dtype; ///< nothing for the few that we have no type for
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0, end = 0; ///< bytes of the file, half-open
};

/// Reads and checks the header of a whole file in memory, by the rules of the format
/// (huggingface/safetensors, version 0.4): a length of 8 bytes, at most 100 MB of JSON without
/// repeated keys, sizes that follow from dtype and shape, and tensors that fill the rest of the
/// file without gap or overlap. Takes no memory beyond a few times the header. The tensors come in
/// the order of their bytes. Errors: Damaged, Unsupported (a dtype of another version).
Result<std::vector<StoredTensor>> readSafetensorsHeader(std::span<const std::byte> file,
                                                        const std::string& place);

} // namespace moire::capture
