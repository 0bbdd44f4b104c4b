// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/model_plan.h"
#include "core/base/result.h"
#include "core/numeric/dtype.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace moire::capture {

/// One weight tensor, row-major, under its Hugging Face hub name. Where the container stores the
/// bytes as they are and 64-byte aligned they lie in the mapped file; else they are a copy of ours
/// (GGUF dequantised to fp32, rows put back in order; misaligned tensors, since BLAS rounding can
/// depend on the address). `owner` keeps them alive; always 64-byte aligned.
struct Weight
{
    numeric::DType dtype = numeric::DType::FP32;
    std::vector<std::int64_t> shape;
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
};

/// The tensors of a checkpoint, whatever its container. Cheap to list; load() does the work.
class Weights
{
public:
    virtual ~Weights() = default;
    struct Entry
    {
        std::string name;
        numeric::DType dtype;
        std::vector<std::int64_t> shape;
    };
    /// Sorted by name. For MoE one entry per expert, whatever the container holds.
    virtual const std::vector<Entry>& entries() const = 0;
    /// Errors: NotFound (named), Unsupported type (named), Damaged.
    virtual Result<Weight> load(std::string_view name) const = 0;
    /// Lets the memory go that a tensor of a mapped file takes; what still uses it reads the file
    /// again.
    virtual void release(std::string_view /*name*/) const {}
};

/// Safetensors folder (single or sharded with index) – every offset, size and shape checked. Names
/// are turned into the hub's by `names`; what a decoder computes anew is left out.
Result<std::shared_ptr<const Weights>> openSafetensors(const std::filesystem::path& folder,
                                                       NameStyle names = NameStyle::Llama);

/// Digest over the weights as loaded, free of order: Σ over tensors of a digest of (name, dtype,
/// shape, bytes) mod 2⁶⁴; the same for any sharding and container (CAPTURE conventions in
/// FORMAT.md).
Result<std::uint64_t> weightDigest(const Weights& weights);

} // namespace moire::capture
