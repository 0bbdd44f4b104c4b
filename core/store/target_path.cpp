// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/store/target_path.h"

#include "core/base/file.h"
#include "core/store/schema.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>

namespace moire::store {

namespace fs = std::filesystem;

namespace {

/// A finished capture replaces a capture or an empty file, never somebody's model or a device.
Result<void> checkReplaceable(const fs::path& path)
{
    std::error_code code;
    const fs::file_status status = fs::status(path, code);
    if (!fs::exists(status))
        return {};
    if (!fs::is_regular_file(status))
        return Error{Errc::Invalid, "is not a regular file", path.string(), "Name a file"};
    if (fs::is_empty(path, code))
        return {};
    std::array<unsigned char, magic.size()> beginning{};
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(beginning.data()), beginning.size());
    if (!file || beginning != magic)
        return Error{Errc::Invalid, "is there already and is not a capture", path.string(),
                     "Choose another name, or remove the file first"};
    return {};
}

} // namespace

Result<void> prepareTarget(const fs::path& path, const fs::path& part)
{
    std::error_code code;
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    if (path.filename().empty() || fs::is_directory(path, code))
        return Error{Errc::Invalid, "is a folder", path.string(), "Name a file"};
    if (!fs::is_directory(folder, code))
        return Error{Errc::NotFound, "there is no such folder", folder.string(),
                     "Make the folder first, or choose another one"};
    if (auto checked = checkReplaceable(path); !checked)
        return checked;
    const int descriptor = ::open(part.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0)
        return {};
    const bool busy = isBeingWritten(descriptor);
    ::close(descriptor);
    if (busy)
        return Error{Errc::Invalid, "another process is recording into this file", part.string(),
                     "Wait for it to end, or choose another name"};
    fs::path aside = part;
    aside += ".old";
    fs::rename(part, aside, code);
    if (code)
        return base::systemError(code.value(), "cannot put the older partial file aside", part);
    return {};
}

Result<void> putInPlace(const fs::path& part, const fs::path& path)
{
    std::error_code code;
    fs::rename(part, path, code);
    if (!code)
        return {};
    Error error = base::systemError(code.value(), "cannot rename the finished capture", part);
    if (code == std::errc::no_such_file_or_directory)
        error.sentence = "the capture's folder has gone, or the file in it";
    return error;
}

bool isBeingWritten(int descriptor)
{
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_len = 1;
    return ::fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

Result<void> checkHeader(const trace::RunHeader& header)
{
    const auto wrong = [](const std::string& what) {
        return Error{Errc::Invalid, what + " cannot be recorded", {}, {}};
    };
    const auto good = [](std::string_view name) {
        return !name.empty() && name != "." && name.find('/') == std::string_view::npos
               && name.find('\0') == std::string_view::npos;
    };
    std::set<std::string_view> names;
    for (const trace::Tap& tap : header.taps) {
        if (!good(tap.name) || !names.insert(tap.name).second)
            return wrong("a tap named \"" + tap.name + "\" (empty, twice, or with a slash)");
        if (tap.width == 0)
            return wrong("the tap " + tap.name + " of width 0");
        for (const trace::TapIndex input : tap.inputs)
            if (indexOf(input) >= header.taps.size())
                return wrong("the tap " + tap.name + " with an input that is not there");
    }
    std::set<std::string_view> modules;
    for (const trace::RouterLayer& router : header.routers)
        if (!good(router.module) || !modules.insert(router.module).second || router.experts == 0)
            return wrong("a router named \"" + router.module
                         + "\" (empty, twice, with a slash, or without experts)");
    if (header.logits.topK > header.logits.vocabulary)
        return wrong("a top-K table larger than the vocabulary");
    return {};
}

} // namespace moire::store
