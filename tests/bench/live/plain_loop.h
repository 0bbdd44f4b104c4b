// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>

namespace moire::bench {

/// Whether a loop is encrypted.
enum class Curve
{
    Off,
    On
};

/// What libzmq's own local_thr and remote_thr measure, in one process: `count` messages of `size`
/// bytes from a PUSH to a PULL socket over TCP loopback, each socket in a context and a thread of
/// its own. Bytes a second from the first message received to the last.
double plainThroughput(std::size_t size, std::size_t count, Curve curve);
/// The same by a process of its own, as the tools are: nothing that we set for ours helps it.
/// `program --plain SIZE COUNT curve|null` has to print the figure.
double plainThroughputAlone(const std::string& program, std::size_t size, std::size_t count,
                            Curve curve);

} // namespace moire::bench
