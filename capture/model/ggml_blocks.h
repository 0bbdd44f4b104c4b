// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>

namespace moire::capture {

/// Writes the values of one block of a packed ggml type, with the arithmetic of gguf-py's
/// `dequantize`: the bits are its own. Scales are fp16, widened exactly; every product, sum and
/// difference is one of fp32, rounded on its own. The sizes stand in ggml_types.cpp.
using UnpackBlock = void (*)(const std::byte* block, float* out);

/// Blocks of 32 values with one scale d: d · q.
void unpackQ40(const std::byte* block, float* out);
void unpackQ50(const std::byte* block, float* out);
void unpackQ80(const std::byte* block, float* out);

/// Blocks of 32 values with a scale d and an offset m: d · q + m.
void unpackQ41(const std::byte* block, float* out);
void unpackQ51(const std::byte* block, float* out);

/// Blocks of 256 values in 16 parts with scales of 6 or 8 bits: (d · scale) · q.
void unpackQ3K(const std::byte* block, float* out);
void unpackQ6K(const std::byte* block, float* out);

/// Blocks of 256 values in 16 (Q2_K) or 8 parts, each with a scale and an offset of 4 or 6 bits:
/// (d · scale) · q − (m · offset).
void unpackQ2K(const std::byte* block, float* out);
void unpackQ4K(const std::byte* block, float* out);
void unpackQ5K(const std::byte* block, float* out);

} // namespace moire::capture
