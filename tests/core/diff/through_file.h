// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/store/mapped_run.h"
#include "core/store/writer.h"
#include "tests/core/diff/compared.h"

#include <QTemporaryDir>

#include <filesystem>

namespace moire::diff::test {

/// The run as a capture file: written by the writer, opened as any other. Fails the process where
/// that is an error.
inline trace::RunPointer throughFile(const PlainRun& run, const std::filesystem::path& path)
{
    auto writer = store::Writer::create(path, run.header);
    if (!writer)
        qFatal("%s", writer.error().text().c_str());
    run.writeInto(**writer);
    auto opened = store::MappedRun::open(path);
    if (!opened)
        qFatal("%s", opened.error().text().c_str());
    return *opened;
}

/// As compared(), of two capture files.
inline Report comparedThroughFiles(const PlainRun& reference, const PlainRun& target,
                                   const ComparisonOptions& options = {})
{
    const QTemporaryDir folder;
    const std::filesystem::path here = folder.path().toStdString();
    base::Progress progress;
    auto report = compare(throughFile(reference, here / "reference.moire"),
                          throughFile(target, here / "target.moire"), {}, options, 1, {}, progress);
    if (!report)
        qFatal("%s", report.error().text().c_str());
    return *report;
}

} // namespace moire::diff::test
