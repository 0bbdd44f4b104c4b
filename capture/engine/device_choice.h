// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"
#include "core/trace/environment.h"

#include <string>
#include <string_view>

namespace moire::capture {

/// A device by the words of the command line: "cpu", "cuda[:N]", "hip[:N]".
struct DeviceChoice
{
    enum class Kind
    {
        Cpu,
        Cuda,
        Hip
    };
    Kind kind = Kind::Cpu;
    int index = 0;

    /// Errors: Invalid spelling; Unsupported when the LibTorch in use, or this machine, has none.
    static Result<DeviceChoice> parse(std::string_view text);
    std::string text() const;
};

/// Sets vendor, device and arch of the device, and what is known of the libraries.
void describeDevice(const DeviceChoice& device, trace::Environment& environment);

} // namespace moire::capture
