// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/wire/requests.h"

#include <QString>
#include <QStringList>

namespace moire::widgets {

/// How a daemon is reached.
struct DaemonAddress
{
    QString address;   ///< HOST:PORT, or tcp://HOST:PORT
    QString key;       ///< file with the own key pair; empty: no CURVE
    QString serverKey; ///< the daemon's public key, or a file with it
    bool insecure = false;
    friend bool operator==(const DaemonAddress&, const DaemonAddress&) = default;
};

/// One side of a live comparison: a run that a daemon makes, or a capture file.
struct SidePlan
{
    bool isFile = false;
    QString file;
    DaemonAddress daemon;
    QString model;
    QString policy;     ///< empty: the model's own
    QString arithmetic; ///< empty: the daemon's default
    QString options;    ///< further options of `run`, as on a command line
    friend bool operator==(const SidePlan&, const SidePlan&) = default;

    QString name() const; ///< for people: model and address, or the file
};

/// What a live comparison is to do.
struct LivePlan
{
    SidePlan reference, target;
    QString text;        ///< the prompt; unused when there is a file
    QString promptsFile; ///< of JSON lines, on this machine
    int maxNew = 32;
    QString taps;         ///< patterns with spaces between; empty: all
    QString level;        ///< empty: full
    bool lossless = true; ///< else what a side cannot hold is lost, and shown so
    friend bool operator==(const LivePlan&, const LivePlan&) = default;
};

/// The request for one side; one that scores the other's tokens has neither prompts nor a length.
/// Errors: Invalid (an option that is none, no model, no prompt); those of reading the prompts'
/// file.
Result<wire::RunRequest> requestOf(const LivePlan& plan, const SidePlan& side, bool scores = false);

} // namespace moire::widgets
