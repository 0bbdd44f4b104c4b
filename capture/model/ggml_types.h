// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/ggml_blocks.h"
#include "core/numeric/dtype.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace moire::capture {

/// A tensor type of ggml that we read: blocks of `blockValues` values in `blockBytes` bytes.
struct GgmlType
{
    std::uint32_t number;
    std::uint32_t blockValues;
    std::uint32_t blockBytes;
    numeric::DType dtype; ///< what its values become
    UnpackBlock unpack;   ///< null where the bytes are the values

    /// Has to be dequantised (to fp32).
    constexpr bool packed() const { return unpack != nullptr; }
};

/// Null for a type that we do not read.
const GgmlType* findGgmlType(std::uint32_t number);

/// ggml's name of a type ("Q6_K"), or "number 99" for one that it does not know.
std::string ggmlTypeName(std::uint32_t number);
bool isGgmlType(std::uint32_t number);

/// "F32, F16, …", for the sentence that refuses another.
std::string supportedGgmlTypes();

/// Values of a packed type, with the bits of gguf-py's `dequantize` (ggml_blocks.h). `in` holds
/// whole blocks, `out` as many values as they have.
void dequantise(const GgmlType& type, std::span<const std::byte> in, std::span<float> out);

} // namespace moire::capture
