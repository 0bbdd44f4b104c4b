// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/base/freed_memory.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace moire::base {

void keepFreedMemory()
{
#ifdef __GLIBC__
    constexpr int kept = 32 << 20;
    constexpr int fromTheSystem = 8 << 20; // so much at once is not taken of a heap
    mallopt(M_TRIM_THRESHOLD, kept);
    mallopt(M_MMAP_THRESHOLD, fromTheSystem);
#endif
}

} // namespace moire::base
