// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/progress.h"
#include "core/diff/tolerance.h"
#include "widgets/models/compared.h"

#include <QString>
#include <QStringList>

#include <memory>
#include <stop_token>

namespace moire::widgets {

/// The two files of a comparison.
struct RunPaths
{
    QString reference, target;
    bool isEmpty() const { return reference.isEmpty() && target.isEmpty(); }
    friend bool operator==(const RunPaths&, const RunPaths&) = default;
};

/// What a comparison is judged by besides bits.
struct Judging
{
    QString tolerance; ///< a shipped profile or a file with one; empty: bits alone
    QString repeat;    ///< a second capture of the reference's configuration, for the noise floor
    QStringList criteria{}; ///< in place of a profile: of every tap that they can speak of
    bool isEmpty() const { return tolerance.isEmpty() && repeat.isEmpty() && criteria.isEmpty(); }
};
/// The tolerance that is named, or made of the criteria; null without either. Errors: what is wrong
/// with it.
Result<std::shared_ptr<const diff::Tolerance>> toleranceOf(const Judging& judging);

/// Opens both captures and finds from digests, tokens and top-K tables where they differ: quick,
/// whatever the files' size, and not yet measured. Never in the GUI thread. Errors: what the reader
/// says of a file, Incomparable, Cancelled.
Result<ComparedPointer> openRuns(const RunPaths& paths, std::stop_token stop,
                                 base::Progress& progress);

/// The same runs with every measure: reads all values. Errors: Damaged, Io, Cancelled; what is
/// wrong with the profile or the repeat.
Result<ComparedPointer> measureRuns(const ComparedPointer& opened, const Judging& judging,
                                    std::stop_token stop, base::Progress& progress);

} // namespace moire::widgets
