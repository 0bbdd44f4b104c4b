// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

// Which instruction sets our Highway kernels are compiled for; included before foreach_target.h.
// Sizeless vectors (SVE, RVV) cannot stand in arrays, which the kernels need; SSSE3 and AVX3_DL add
// nothing that they use. On x86-64 this leaves AVX3 (AVX-512), AVX2, SSE4 and plain C++.
#define HWY_DISABLED_TARGETS                                                                       \
    (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
