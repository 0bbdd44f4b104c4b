// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace moire::report {

/// A file that appears whole or not at all: written under a temporary name beside its own and
/// renamed by commit(). Without commit() nothing is left, and what a killed process left of the
/// same file goes with create(). A symbolic link is written through. What is there already and is
/// not a plain file (a pipe, /dev/stdout) is written to directly. Movable, not copyable.
class OutputFile
{
public:
    enum class Stale
    {
        Sweep,
        Leave ///< the caller has swept the folder
    };
    /// Errors: NotFound when the folder is not there, Invalid for a folder and for what
    /// checkReplaceable() refuses, Io, NoSpace.
    static Result<OutputFile> create(const std::filesystem::path& path, Stale stale = Stale::Sweep);
    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&& other) noexcept;
    ~OutputFile();

    Result<void> write(std::string_view text);
    Result<void> write(std::span<const std::byte> bytes);
    Result<void> commit();

private:
    OutputFile() = default;
    Result<void> openDirect();
    Result<void> openBeside(Stale stale);
    Result<void> flush();
    void giveUp();

    std::filesystem::path m_path;    ///< as the user knows it
    std::filesystem::path m_real;    ///< behind links
    std::filesystem::path m_partial; ///< temporary name; empty when not a plain file
    const char* m_listed = nullptr;  ///< of m_partial, for signals
    std::string m_buffer;
    int m_descriptor = -1;
};

/// Refuses a file that holds a capture, an HDF5 file, the weights of a model (GGUF, safetensors)
/// or, by its name, another part of a model's folder (tokenizer.json): a report or a picture over
/// it would be a slip of the fingers. Judged by the first bytes; what we wrote ourselves may be
/// written again.
Result<void> checkReplaceable(const std::filesystem::path& path);

/// The whole of `text` into `path`.
Result<void> writeFile(const std::filesystem::path& path, std::string_view text);

} // namespace moire::report
