// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace moire::app {

/// A temporary folder that only this user can look into, gone with the object.
class PrivateFolder
{
public:
    static Result<PrivateFolder> make();
    PrivateFolder(PrivateFolder&& other) noexcept;
    PrivateFolder& operator=(PrivateFolder&&) = delete;
    ~PrivateFolder();

    const std::filesystem::path& path() const { return m_path; }
    /// A file in it, under a name that somebody else chose: what of it could mean anything to a
    /// file system is left out. Errors: Invalid (a name that is there), Io, NoSpace.
    Result<std::filesystem::path> write(const std::string& name,
                                        std::span<const std::byte> content) const;

private:
    explicit PrivateFolder(std::filesystem::path path)
        : m_path(std::move(path))
    {}
    std::filesystem::path m_path;
};

/// The last part of a name with letters, digits, '.', '-' and '_' alone.
std::string plainFileName(const std::string& name);

} // namespace moire::app
