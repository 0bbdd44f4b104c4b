// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/store/mapped_run.h"
#include "core/wire/run_log.h"

#include <filesystem>
#include <memory>
#include <mutex>

namespace moire::capture {

/// Rows of a capture file, also of one that is being written: it is opened again when rows are
/// asked for that came later. Any thread.
class SpooledRows : public wire::RowSource
{
public:
    /// `path`: the capture's name when it is complete.
    explicit SpooledRows(std::filesystem::path path)
        : m_path(std::move(path))
    {}

    /// Errors: NotFound when the file does not hold them; those of MappedRun.
    Result<trace::RowBlock> rows(trace::RowIndex first, std::size_t count) override;

private:
    Result<std::shared_ptr<const store::MappedRun>> runWith(trace::RowIndex end);

    std::filesystem::path m_path;
    std::mutex m_mutex;
    std::shared_ptr<const store::MappedRun> m_run; ///< as opened last
};

/// Opens a capture under its own name, or under that of one that was not finished.
Result<std::shared_ptr<const store::MappedRun>> openSpooled(const std::filesystem::path& path);

} // namespace moire::capture
