// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/checkpoint.h"
#include "core/base/result.h"
#include "core/wire/requests.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace moire::capture {

/// A model of the shelf, opened. Its digest is read once for all runs.
struct ShelvedModel
{
    std::string name;
    std::filesystem::path path;
    std::uint64_t signature = 0; ///< of its files' names, sizes and times
    Checkpoint checkpoint;

    /// Of the weights, read at the first call. Any thread.
    Result<std::uint64_t> weightDigest() const;

private:
    mutable std::mutex m_mutex;
    mutable std::optional<std::uint64_t> m_digest;
};

/// The models below one folder, by names that cannot leave it: a client names nothing else. Any
/// thread.
class ModelShelf
{
public:
    /// Errors: NotFound (no such folder).
    static Result<std::unique_ptr<ModelShelf>> open(const std::filesystem::path& folder);

    /// Every folder with a config.json and every .gguf file, by name. Opens each that was not seen
    /// before; that takes a while.
    std::vector<wire::ModelEntry> entries();
    /// Where a model lies. Errors: Invalid (a name that is no path below the folder, or that a link
    /// leads out of it), NotFound.
    Result<std::filesystem::path> find(const std::string& name) const;
    /// Errors: those of find() and of openCheckpoint().
    Result<std::shared_ptr<const ShelvedModel>> model(const std::string& name);

private:
    explicit ModelShelf(std::filesystem::path folder)
        : m_folder(std::move(folder))
    {}
    std::vector<std::string> names() const;
    wire::ModelEntry entryOf(const std::string& name);
    Result<void> checkContent(const std::filesystem::path& model) const;
    bool isInside(const std::filesystem::path& path) const;

    std::filesystem::path m_folder; ///< canonical
    std::mutex m_mutex;
    std::shared_ptr<const ShelvedModel> m_recent; ///< the last one asked for
    struct Known
    {
        std::uint64_t signature = 0;
        wire::ModelEntry entry;
    };
    std::map<std::string, Known> m_known; ///< by name
};

} // namespace moire::capture
