// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"
#include "core/wire/message.h"

#include <cstdint>
#include <filesystem>
#include <functional>

namespace moire::capture {

/// The messages of a spooled run in their order, so that a daemon that starts again gives them the
/// same numbers. Of rows only their count stands here; their content is in the capture file.
///
/// The file: 8 bytes "MOIRELOG", then records of a u64 size, a u64 digest of the bytes that follow
/// (numeric::bytesDigest), and so many bytes: one message packed as wire::packTogether() does.
/// Every record is one write, so that a process that is killed leaves whole records and at most one
/// torn one behind them. Written by one thread.
class SpoolIndex
{
public:
    /// Errors: Io, NoSpace.
    static Result<SpoolIndex> create(const std::filesystem::path& path);
    /// Opens one that is there, cut to its first `size` bytes, to add to it.
    static Result<SpoolIndex> resume(const std::filesystem::path& path, std::uint64_t size);
    SpoolIndex(SpoolIndex&& other) noexcept;
    SpoolIndex& operator=(SpoolIndex&&) = delete;
    ~SpoolIndex();

    /// Errors: Io, NoSpace; nothing of the record counts then.
    Result<void> add(const wire::Packed& message);
    std::uint64_t size() const { return m_size; }

    /// Calls `visit` with every whole record's message, until it says false. Returns the end of the
    /// last record that `visit` accepted. Errors: NotFound, Io; Damaged when it is no such file.
    static Result<std::uint64_t> read(const std::filesystem::path& path,
                                      const std::function<bool(const wire::Message&)>& visit);

private:
    SpoolIndex(std::filesystem::path path, int descriptor, std::uint64_t size)
        : m_path(std::move(path))
        , m_descriptor(descriptor)
        , m_size(size)
    {}
    Result<void> write(std::span<const std::byte> bytes);

    std::filesystem::path m_path;
    int m_descriptor = -1;
    std::uint64_t m_size = 0; ///< of whole records
};

} // namespace moire::capture
