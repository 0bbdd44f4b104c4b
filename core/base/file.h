// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace moire::base {

/// A file mapped read-only. The mapping lives as long as the object; movable, not copyable.
/// A file that shrinks while mapped would end in SIGBUS: callers ask stillWhole() before and
/// after a long read.
class MappedFile
{
public:
    static Result<MappedFile> open(const std::filesystem::path& path);
    MappedFile() = default;
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&& other) noexcept;
    ~MappedFile();

    std::span<const std::byte> bytes() const { return {m_data, m_size}; }
    const std::filesystem::path& path() const { return m_path; }
    /// False when the file is now shorter than what was mapped.
    bool stillWhole() const;
    /// Lets go of the resident memory behind these bytes, which a copy has been made of. They stay
    /// readable: touching them reads the file again.
    void releasePages(std::uint64_t offset, std::uint64_t size) const;
    /// The file's size at this moment, 0 when the system does not say.
    std::uint64_t sizeNow() const;
    int descriptor() const { return m_descriptor; }

private:
    const std::byte* m_data = nullptr;
    std::size_t m_size = 0;
    int m_descriptor = -1;
    std::filesystem::path m_path;
};

/// The whole of a small file. Errors: NotFound, Io; Damaged when it is longer than `limit` bytes.
Result<std::string> readSmallFile(const std::filesystem::path& path, std::size_t limit);

/// Turns an errno value and what was tried into an Error ("cannot write …: no space left on
/// device").
Error systemError(int errorNumber, const std::string& sentence, const std::filesystem::path& path);

} // namespace moire::base
