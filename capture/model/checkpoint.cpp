// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/checkpoint.h"

#include "capture/model/config.h"
#include "capture/model/gguf_file.h"
#include "capture/model/gguf_plan.h"
#include "capture/model/gguf_tokenizer.h"
#include "capture/model/gguf_weights.h"
#include "capture/model/plan_check.h"
#include "capture/model/tensor_names.h"
#include "capture/model/weight_index.h"
#include "core/base/file.h"

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

void takeTokenizer(Checkpoint& checkpoint, Result<std::shared_ptr<const Tokenizer>> tokenizer)
{
    if (tokenizer)
        checkpoint.tokenizer = std::move(*tokenizer);
    else
        checkpoint.tokenizerError = tokenizer.error();
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
    auto weights = openSafetensors(folder, configured->plan.names);
    if (!weights)
        return weights.error();
    Checkpoint checkpoint{std::move(configured->plan), std::move(*weights), nullptr, {}};
    if (auto checked = checkTensors(checkpoint.plan, *checkpoint.weights, folder.string());
        !checked)
        return checked.error();
    if (!configured->dtypeNamed) {
        const auto& entries = checkpoint.weights->entries();
        checkpoint.plan.dtype = entries[findEntry(entries, embeddingTensor(checkpoint.plan))].dtype;
    }
    takeTokenizer(checkpoint, openTokenizer(folder));
    return checkpoint;
}

Result<std::shared_ptr<const Tokenizer>> ggufTokenizer(const GgufFile& file)
{
    auto definition = bpeFromGguf(file);
    if (!definition)
        return definition.error();
    return makeBpe(std::move(*definition));
}

Result<Checkpoint> openGguf(const fs::path& path)
{
    const auto file = GgufFile::open(path);
    if (!file)
        return file.error();
    auto plan = planFromGguf(*file);
    if (!plan)
        return plan.error();
    auto weights = openGgufWeights(*file, *plan);
    if (!weights)
        return weights.error();
    Checkpoint checkpoint{std::move(*plan), std::move(*weights), nullptr, {}};
    if (auto checked = checkTensors(checkpoint.plan, *checkpoint.weights, path.string()); !checked)
        return checked.error();
    takeTokenizer(checkpoint, ggufTokenizer(*file));
    return checkpoint;
}

} // namespace

Result<Checkpoint> openCheckpoint(const fs::path& path)
{
    std::error_code failure;
    const auto status = fs::status(path, failure);
    if (status.type() == fs::file_type::not_found)
        return Error{Errc::NotFound, "no such model folder or file", path.string(),
                     "Check the path"};
    if (!fs::status_known(status))
        return base::systemError(failure.value(), "cannot examine", path);
    const bool isFolder = fs::is_directory(status);
    if (!isFolder && !fs::is_regular_file(status))
        return Error{Errc::Unsupported, "is neither a model folder nor a file", path.string(),
                     "Name a Hugging Face model folder or a .gguf file"};
    auto checkpoint = isFolder ? openFolder(path) : openGguf(path);
    if (checkpoint)
        checkpoint->plan.name = displayName(path);
    return checkpoint;
}

} // namespace moire::capture
