// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/diff/open_run.h"

#include "core/store/mapped_run.h"

namespace moire::app {

Result<trace::RunPointer> openRun(const std::string& path)
{
    auto run = store::MappedRun::open(path);
    if (!run)
        return run.error();
    return trace::RunPointer(std::move(*run));
}

} // namespace moire::app
