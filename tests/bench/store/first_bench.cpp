// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/figure.h"
#include "tests/bench/store/sparse_capture.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

/// moire-diff --first over two captures of 100 GB each (sparse), nothing of them in the page cache:
/// the only difference in the last row, and none at all.
namespace {

using namespace moire;

void drop(const std::filesystem::path& path)
{
    const int descriptor = ::open(path.c_str(), O_RDONLY);
    ::fdatasync(descriptor);
    ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
    ::close(descriptor);
}

struct Cost
{
    double seconds = 0;
    double megabytes = 0; ///< largest resident size, file pages too
    int status = -1;
};

Cost costOfFirst(const std::filesystem::path& reference, const std::filesystem::path& target)
{
    drop(reference);
    drop(target);
    std::string program = MOIRE_DIFF;
    std::string first = "--first";
    std::string quiet = "--quiet";
    std::string ours = reference.string();
    std::string theirs = target.string();
    std::array<char*, 6> arguments{program.data(), ours.data(),  theirs.data(),
                                   first.data(),   quiet.data(), nullptr};
    Cost cost;
    rusage usage{};
    int status = 0;
    cost.seconds = bench::secondsOf([&] {
        pid_t child = 0;
        if (::posix_spawn(&child, MOIRE_DIFF, nullptr, nullptr, arguments.data(), environ) == 0)
            ::wait4(child, &status, 0, &usage);
    });
    cost.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    cost.megabytes = static_cast<double>(usage.ru_maxrss) / 1024;
    return cost;
}

void report(const std::string& what, const std::filesystem::path& reference,
            const std::filesystem::path& target, int expected)
{
    constexpr int repeats = 3;
    constexpr double mostMegabytes = 200;
    Cost best;
    for (int i = 0; i < repeats; ++i) {
        const Cost cost = costOfFirst(reference, target);
        if (cost.status != expected) {
            std::fprintf(stderr, "bench_first: moire-diff ended with %d\n", cost.status);
            std::exit(2);
        }
        if (i == 0 || cost.seconds < best.seconds)
            best = cost;
    }
    bench::printAbsoluteFigure("first divergence of 2 x 100 GB, " + what, "s", best.seconds, 1,
                               bench::Sense::Max);
    bench::printAbsoluteFigure("memory of the same", "MB", best.megabytes, mostMegabytes,
                               bench::Sense::Max);
}

void require(const Result<void>& result)
{
    if (result)
        return;
    std::fprintf(stderr, "bench_first: %s\n", result.error().text().c_str());
    std::exit(2);
}

void measure(const std::filesystem::path& folder, const bench::SparseShape& shape,
             const std::string& name)
{
    const auto reference = folder / "reference.moire";
    const auto target = folder / "target.moire";
    require(bench::writeSparseCapture(reference, shape, false));
    require(bench::writeSparseCapture(target, shape, true));
    report(name + ", the last row differs", reference, target, 1);
    require(bench::writeSparseCapture(target, shape, false));
    report(name + ", equal", reference, target, 0);
}

} // namespace

int main()
{
    std::string pattern = (std::filesystem::temp_directory_path() / "moire-bench-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
        return 2;
    measure(pattern, {18'000, 450, 6144, 128'256}, "18,000 rows of 450 taps");
    measure(pattern, {141'000, 424, 720, 49'152}, "141,000 rows of 424 taps");
    std::error_code ignored;
    std::filesystem::remove_all(pattern, ignored);
    return 0;
}
