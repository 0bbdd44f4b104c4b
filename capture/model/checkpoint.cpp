// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/checkpoint.h"

#include "capture/model/config.h"
#include "capture/model/plan_check.h"
#include "capture/model/tensor_names.h"
#include "capture/model/weight_index.h"

#include <utility>

namespace moire::capture {

namespace {

namespace fs = std::filesystem;

/// The last part of a path that has a name: of "a/b/" too.
std::string displayName(const fs::path& path)
{
    std::error_code ignored;
    fs::path whole = fs::absolute(path, ignored).lexically_normal();
    if (!whole.has_filename())
        whole = whole.parent_path();
    return whole.filename().string();
}

Result<Checkpoint> openFolder(const fs::path& folder)
{
    auto configured = planFromFolder(folder);
    if (!configured) {
        if (configured.error().code == Errc::NotFound)
            return Error{Errc::NotFound, "has no config.json", folder.string(),
                         "Name a Hugging Face model folder or a .gguf file"};
        return configured.error();
    }
    auto weights = openSafetensors(folder);
    if (!weights)
        return weights.error();
    Checkpoint checkpoint{std::move(configured->plan), std::move(*weights), nullptr, {}};
    if (auto checked = checkTensors(checkpoint.plan, *checkpoint.weights, folder.string());
        !checked)
        return checked.error();
    if (!configured->dtypeNamed) {
        const auto& entries = checkpoint.weights->entries();
        checkpoint.plan.dtype = entries[findEntry(entries, embeddingTensor)].dtype;
    }
    if (auto tokenizer = openTokenizer(folder))
        checkpoint.tokenizer = std::move(*tokenizer);
    else
        checkpoint.tokenizerError = tokenizer.error();
    return checkpoint;
}

} // namespace

Result<Checkpoint> openCheckpoint(const fs::path& path)
{
    std::error_code failure;
    const auto status = fs::status(path, failure);
    if (!fs::exists(status))
        return Error{Errc::NotFound, "no such model folder or file", path.string(),
                     "Check the path"};
    if (!fs::is_directory(status))
        return Error{Errc::Unsupported, "is neither a model folder nor a GGUF file", path.string(),
                     "Name a Hugging Face model folder or a .gguf file"};
    auto checkpoint = openFolder(path);
    if (checkpoint)
        checkpoint->plan.name = displayName(path);
    return checkpoint;
}

} // namespace moire::capture
