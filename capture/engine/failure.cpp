// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/failure.h"

#include <algorithm>
#include <string>

namespace moire::capture {

Error libraryError(const std::exception& exception)
{
    std::string text = exception.what();
    text.resize(std::min(text.find('\n'), text.size()));
    const bool memory = text.find("memory") != std::string::npos;
    return {Errc::Internal,
            "LibTorch failed: " + text,
            {},
            memory ? "Take a smaller batch or a device with more memory"
                   : "Try --device cpu, or --arithmetic ordered, which does without the library's "
                     "kernels"};
}

} // namespace moire::capture
