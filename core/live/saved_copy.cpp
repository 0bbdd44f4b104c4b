// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/live/saved_copy.h"

#include "core/base/file.h"
#include "core/store/target_path.h"
#include "core/store/writer.h"

namespace moire::live {

namespace fs = std::filesystem;

Result<void> copyWhole(const fs::path& from, const fs::path& to)
{
    const fs::path part = store::partialPathOf(to);
    if (auto prepared = store::prepareTarget(to, part); !prepared)
        return prepared;
    std::error_code failure;
    std::error_code ignored;
    fs::copy_file(from, part, fs::copy_options::overwrite_existing, failure);
    if (failure) {
        fs::remove(part, ignored);
        return base::systemError(failure.value(), "cannot save the run", to);
    }
    auto placed = store::putInPlace(part, to);
    if (!placed)
        fs::remove(part, ignored);
    return placed;
}

} // namespace moire::live
