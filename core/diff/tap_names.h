// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What names other engines give to the modules of a model, and which of their modules are several
/// in one. Taps are named by Hugging Face module paths here (`model.layers.3.mlp.down_proj.out`).
namespace moire::diff {

/// The Hugging Face name of a tap of llama.cpp, Megatron, vLLM or SGLang; the name itself where it
/// is one already or is not known. Nothing where the name stands for a part of a value only (the
/// two halves of a residual stream).
std::optional<std::string> hubName(std::string_view name);

/// How the parts of a fused projection lie in its output.
enum class FusedLayout
{
    Joined, ///< one after the other
    Grouped ///< for every key-value head: its queries, its key, its value
};

/// A module that is several of Hugging Face's in one.
struct FusedModule
{
    FusedLayout layout = FusedLayout::Joined;
    std::vector<std::string> parts; ///< tap names, in order
};
std::optional<FusedModule> fusedModule(std::string_view hubName);

} // namespace moire::diff
