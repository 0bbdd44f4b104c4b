// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/progress.h"
#include "widgets/models/compared.h"

#include <QString>

#include <stop_token>

namespace moire::widgets {

/// The two files of a comparison.
struct RunPaths
{
    QString reference, target;
    bool isEmpty() const { return reference.isEmpty() && target.isEmpty(); }
    friend bool operator==(const RunPaths&, const RunPaths&) = default;
};

/// Opens both captures and finds from digests, tokens and top-K tables where they differ: quick,
/// whatever the files' size, and not yet measured. Never in the GUI thread. Errors: what the reader
/// says of a file, Incomparable, Cancelled.
Result<ComparedPointer> openRuns(const RunPaths& paths, std::stop_token stop,
                                 base::Progress& progress);

/// The same runs with every measure: reads all values. Errors: Damaged, Io, Cancelled.
Result<ComparedPointer> measureRuns(const ComparedPointer& opened, std::stop_token stop,
                                    base::Progress& progress);

} // namespace moire::widgets
