// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/store/writer.h"
#include "tests/core/store/sample_run.h"

#include <cstdio>
#include <fstream>
#include <string>

using namespace moire;

/// write_sample_run FOLDER LEVEL: a finished capture, an unfinished one (whole.moire,
/// part.moire.part), and the bytes of every tap as they were handed in (<tap>.bin), which never saw
/// the store.
int main(int argc, char** argv)
{
    if (argc != 3)
        return 2;
    const std::string folder = argv[1];
    const auto header = store::test::sampleHeader(*trace::levelFromName(argv[2]));
    constexpr std::uint32_t rows = 10;
    trace::RunBuilder builder(header, "memory");
    auto whole = store::Writer::create(folder + "/whole.moire", header, {7, false});
    auto part = store::Writer::create(folder + "/part.moire", header, {7, false});
    if (!whole || !part || !store::test::record(builder, header, rows)
        || !store::test::record(**whole, header, rows) || !store::test::record(**part, header, rows)
        || !(*part)->flush() || !(*whole)->finish(store::test::closingFields()))
        return 1;
    const auto run = builder.snapshot();
    for (std::size_t t = 0; header.level == trace::Level::Full && t < header.taps.size(); ++t) {
        std::ofstream out(folder + "/" + header.taps[t].name + ".bin", std::ios::binary);
        for (trace::RowIndex r = 0; r < run->rowCount(); ++r) {
            const auto view = run->values(static_cast<trace::TapIndex>(t), r, r + 1);
            out.write(reinterpret_cast<const char*>(view->row(r)),
                      static_cast<std::streamsize>(view->stride));
        }
    }
    // The unfinished file stays as a killed writer leaves it.
    std::fflush(nullptr);
    std::_Exit(0);
}
