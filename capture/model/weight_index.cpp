// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/weight_index.h"

#include "capture/model/aligned_bytes.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace moire::capture {

std::size_t findEntry(const std::vector<Weights::Entry>& entries, std::string_view name)
{
    const auto it = std::lower_bound(
        entries.begin(), entries.end(), name,
        [](const Weights::Entry& entry, std::string_view wanted) { return entry.name < wanted; });
    return it == entries.end() || it->name != name ? entries.size()
                                                   : static_cast<std::size_t>(it - entries.begin());
}

std::string expertName(std::string_view fused, std::size_t expert, std::string_view projection)
{
    const std::size_t dot = fused.rfind('.');
    return std::string(fused.substr(0, dot + 1)) + std::to_string(expert) + "."
           + std::string(projection) + ".weight";
}

Error shrunkError(const base::MappedFile& file)
{
    return {Errc::Damaged, "has become shorter while it was being read", file.path().string(),
            "Let nothing write to the checkpoint during a run"};
}

Result<Weight> weightFromFile(const std::shared_ptr<const base::MappedFile>& file,
                              std::uint64_t offset, std::uint64_t size, const Weights::Entry& entry)
{
    if (!file->stillWhole())
        return shrunkError(*file);
    const auto bytes = file->bytes().subspan(offset, size);
    if (isAligned(bytes.data()))
        return Weight{entry.dtype, entry.shape, bytes, file};
    try {
        AlignedBytes copy(bytes.size());
        std::memcpy(copy.bytes().data(), bytes.data(), bytes.size());
        if (!file->stillWhole())
            return shrunkError(*file);
        file->releasePages(offset, size);
        const AlignedBytes& filled = copy;
        return Weight{entry.dtype, entry.shape, filled.bytes(), filled.owner()};
    } catch (const std::bad_alloc&) {
        return Error{Errc::Internal, "memory runs out at tensor " + entry.name,
                     file->path().string(), "Take a smaller model or a machine with more memory"};
    }
}

} // namespace moire::capture
