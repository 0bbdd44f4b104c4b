// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace moire::base {

/// For programs that receive runs, once and for the whole process: messages take memory and give
/// it back all the time, and glibc would return it to the system after each of half a MiB. Fetching
/// it again was a third of the work of receiving. At most 32 MiB of free memory are kept at the end
/// of each of its heaps. Elsewhere than on glibc it does nothing.
void keepFreedMemory();

} // namespace moire::base
