// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

// One source for CUDA and HIP. Compiled in the project's checks (sm_90, gfx90a), not run there.

#include "capture/device/row_fold.h"

#if defined(__HIPCC__) || defined(__HIP__)
#include <hip/hip_runtime.h>
#define gpuGetLastError hipGetLastError
using gpuStream = hipStream_t;
#else
#include <cuda_runtime.h>
#define gpuGetLastError cudaGetLastError
using gpuStream = cudaStream_t;
#endif

namespace moire::capture::device {

namespace {

constexpr unsigned rowsPerBlock = 4;
constexpr unsigned mostBlocks = 65535; ///< further rows are taken by the same blocks in turn

/// Lane x of row y of a block. Lanes meet in shared memory, so that wavefronts of 32 and of 64 add
/// in the same order.
template <class Word>
__global__ void summariseKernel(const unsigned char* rows, std::size_t count, std::size_t width,
                                std::size_t strideBytes, bool half, RowSummary* out)
{
    __shared__ LaneFold lanes[rowsPerBlock][rowLanes];
    LaneFold* row = lanes[threadIdx.y];
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * rowsPerBlock;
    for (std::size_t base = static_cast<std::size_t>(blockIdx.x) * rowsPerBlock; base < count;
         base += step) {
        const std::size_t r = base + threadIdx.y;
        row[threadIdx.x] = r < count
                               ? foldLane(reinterpret_cast<const Word*>(rows + r * strideBytes),
                                          width, threadIdx.x, half)
                               : emptyFold();
        for (unsigned distance = rowLanes / 2; distance > 0; distance /= 2) {
            __syncthreads();
            if (threadIdx.x < distance)
                mergeFolds(row[threadIdx.x], row[threadIdx.x + distance]);
        }
        if (threadIdx.x == 0 && r < count)
            out[r] = summaryOf(row[0]);
        __syncthreads();
    }
}

} // namespace

int queueRowSummaries(const void* rows, numeric::DType dtype, std::size_t count, std::size_t width,
                      std::size_t strideBytes, RowSummary* out, void* stream)
{
    if (count == 0)
        return 0;
    const std::size_t wanted = (count + rowsPerBlock - 1) / rowsPerBlock;
    const dim3 blocks(static_cast<unsigned>(wanted < mostBlocks ? wanted : mostBlocks));
    const dim3 threads(rowLanes, rowsPerBlock);
    const auto* bytes = static_cast<const unsigned char*>(rows);
    const auto queue = static_cast<gpuStream>(stream);
    if (dtype == numeric::DType::FP32)
        summariseKernel<std::uint32_t>
            <<<blocks, threads, 0, queue>>>(bytes, count, width, strideBytes, false, out);
    else
        summariseKernel<std::uint16_t><<<blocks, threads, 0, queue>>>(
            bytes, count, width, strideBytes, dtype == numeric::DType::FP16, out);
    return static_cast<int>(gpuGetLastError());
}

} // namespace moire::capture::device
