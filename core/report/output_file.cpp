// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/output_file.h"

#include "core/base/file.h"
#include "core/report/output_place.h"
#include "core/report/partial_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <fstream>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

namespace moire::report {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t bufferSize = std::size_t{1} << 18U;
constexpr mode_t plainMode = 0666; // less what the umask takes

/// How files begin that took long to make: captures of ours, HDF5, GGUF.
constexpr std::array<std::string_view, 3> precious{"\x89MOIRE\r\n", "\x89HDF\r\n", "GGUF"};
constexpr std::size_t enoughToTell = 64;
/// Early in what we have written ourselves: exported safetensors, JSON reports.
constexpr std::string_view ours = "\"moire-";

/// What a model's folder holds besides weights.
constexpr std::array<std::string_view, 7> modelFiles{
    "config.json",           "generation_config.json",  "tokenizer.json", "tokenizer.model",
    "tokenizer_config.json", "special_tokens_map.json", "vocab.json"};

/// The header's length in eight bytes, little-endian, then the header, a JSON object: no text
/// begins so, for a header of a text's length would be longer than any file.
bool isSafetensors(std::string_view start, std::uintmax_t fileSize)
{
    constexpr std::size_t lengthSize = 8;
    if (start.size() <= lengthSize || start[lengthSize] != '{')
        return false;
    std::uint64_t length = 0;
    for (std::size_t i = lengthSize; i-- > 0;)
        length = (length << 8) | static_cast<std::uint8_t>(start[i]);
    return length > 0 && length <= fileSize - lengthSize;
}

} // namespace

Result<OutputFile> OutputFile::create(const fs::path& path, Stale stale)
{
    OutputFile file;
    file.m_path = path;
    std::error_code ignored;
    const bool there = fs::exists(path, ignored);
    if (fs::is_directory(path, ignored))
        return Error{Errc::Invalid, "is a folder", path.string(), "Name a file to write"};
    const bool direct = descriptorNamed(path) || (there && !fs::is_regular_file(path, ignored));
    auto opened = direct ? file.openDirect() : file.openBeside(stale);
    if (!opened)
        return opened.error();
    return file;
}

Result<void> OutputFile::openDirect()
{
    const auto descriptor = descriptorNamed(m_path);
    m_descriptor = descriptor ? ::fcntl(*descriptor, F_DUPFD_CLOEXEC, 0)
                              : ::open(m_path.c_str(), O_WRONLY | O_CLOEXEC);
    if (m_descriptor < 0)
        return base::systemError(errno, "cannot write", m_path);
    return {};
}

Result<void> OutputFile::openBeside(Stale stale)
{
    auto real = behindLinks(m_path);
    if (!real)
        return real.error();
    m_real = std::move(*real);
    if (auto replaceable = checkReplaceable(m_real); !replaceable)
        return replaceable;
    const fs::path folder = m_real.has_parent_path() ? m_real.parent_path() : fs::path(".");
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored))
        return Error{Errc::NotFound, "the folder to write to does not exist", folder.string(),
                     "Make it first or name another one"};
    if (m_real.filename().string().size() > NAME_MAX)
        return base::systemError(ENAMETOOLONG, "cannot write", m_path);
    m_partial = partialPathOf(m_real);
    if (stale == Stale::Sweep)
        sweepPartialFiles(folder, [&](std::string_view stem) {
            return m_partial.filename().string().starts_with(std::string(stem) + ".part-");
        });
    m_listed = listPartialFile(m_partial);
    m_descriptor = ::open(m_partial.c_str(), O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, plainMode);
    if (m_descriptor < 0)
        return base::systemError(errno, "cannot write", m_path);
    // Says to whoever sweeps that it is being written; a file system may be without locks.
    ::flock(m_descriptor, LOCK_EX | LOCK_NB);
    return {};
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : m_path(std::move(other.m_path))
    , m_real(std::move(other.m_real))
    , m_partial(std::move(other.m_partial))
    , m_listed(std::exchange(other.m_listed, nullptr))
    , m_buffer(std::move(other.m_buffer))
    , m_descriptor(std::exchange(other.m_descriptor, -1))
{}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept
{
    std::swap(m_path, other.m_path);
    std::swap(m_real, other.m_real);
    std::swap(m_partial, other.m_partial);
    std::swap(m_listed, other.m_listed);
    std::swap(m_buffer, other.m_buffer);
    std::swap(m_descriptor, other.m_descriptor);
    return *this;
}

OutputFile::~OutputFile()
{
    if (m_descriptor >= 0) {
        ::close(m_descriptor);
        giveUp();
    }
    unlistPartialFile(m_listed);
}

void OutputFile::giveUp()
{
    if (!m_partial.empty())
        ::unlink(m_partial.c_str());
}

Result<void> OutputFile::write(std::string_view text)
{
    m_buffer += text;
    return m_buffer.size() < bufferSize ? Result<void>() : flush();
}

Result<void> OutputFile::write(std::span<const std::byte> bytes)
{
    return write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Result<void> OutputFile::flush()
{
    for (std::size_t done = 0; done < m_buffer.size();) {
        const ssize_t count = ::write(m_descriptor, m_buffer.data() + done, m_buffer.size() - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return base::systemError(errno, "cannot write", m_path);
        done += static_cast<std::size_t>(count);
    }
    m_buffer.clear();
    return {};
}

Result<void> OutputFile::commit()
{
    if (auto flushed = flush(); !flushed)
        return flushed;
    // A full disk may show only here.
    const bool closed = ::close(std::exchange(m_descriptor, -1)) == 0;
    if (closed && (m_partial.empty() || ::rename(m_partial.c_str(), m_real.c_str()) == 0))
        return {};
    const int number = errno;
    giveUp();
    return base::systemError(number, "cannot write", m_path);
}

Result<void> checkReplaceable(const fs::path& path)
{
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored))
        return {};
    std::ifstream file(path, std::ios::binary);
    std::string start(enoughToTell, '\0');
    file.read(start.data(), static_cast<std::streamsize>(start.size()));
    start.resize(static_cast<std::size_t>(file.gcount()));
    const bool marked = std::any_of(precious.begin(), precious.end(),
                                    [&](std::string_view mark) { return start.starts_with(mark); });
    const bool named = std::find(modelFiles.begin(), modelFiles.end(), path.filename().string())
                       != modelFiles.end();
    const bool foreign = (named || isSafetensors(start, fs::file_size(path, ignored)))
                         && start.find(ours) == std::string::npos;
    if (marked || foreign)
        return Error{Errc::Invalid, "holds a capture or a model, which would be lost",
                     path.string(), "Choose another name, or delete it first"};
    return {};
}

Result<void> writeFile(const fs::path& path, std::string_view text)
{
    auto file = OutputFile::create(path);
    if (!file)
        return file.error();
    if (auto written = file->write(text); !written)
        return written;
    return file->commit();
}

} // namespace moire::report
