// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/models/live_plan.h"

#include "core/base/file.h"
#include "core/wire/protocol.h"

#include <QFileInfo>
#include <QProcess>

namespace moire::widgets {

namespace {

const QString dashes = QStringLiteral("--");

/// "--tp 2 --ignore-end" as options.
Result<void> addWords(const QString& words, wire::RunRequest& request)
{
    const QStringList parts = QProcess::splitCommand(words);
    for (qsizetype i = 0; i < parts.size(); ++i) {
        const QString& word = parts[i];
        if (!word.startsWith(dashes) || word.size() == dashes.size())
            return Error{Errc::Invalid,
                         '"' + word.toStdString() + "\" is no option",
                         {},
                         "Write further options as on the command line: --tp 2 --batch 4"};
        const std::string name = word.section('=', 0, 0).mid(dashes.size()).toStdString();
        if (word.contains('='))
            request.options[name] = word.section('=', 1).toStdString();
        else if (i + 1 < parts.size() && !parts[i + 1].startsWith(dashes))
            request.options[name] = parts[++i].toStdString();
        else
            request.options[name] = true;
    }
    return {};
}

Result<void> addPrompt(const LivePlan& plan, wire::RunRequest& request)
{
    if (plan.promptsFile.isEmpty()) {
        if (plan.text.isEmpty())
            return Error{Errc::Invalid, "there is no prompt", {}, "Write one, or choose a file"};
        request.options["text"] = plan.text.toStdString();
        return {};
    }
    auto content = base::readSmallFile(plan.promptsFile.toStdString(), wire::maxRequestFrameBytes);
    if (!content)
        return content.error();
    const auto bytes = std::as_bytes(std::span(*content));
    request.options["prompts"] = wire::FilePlace{static_cast<std::uint32_t>(request.files.size())};
    request.files.push_back({QFileInfo(plan.promptsFile).fileName().toStdString(),
                             wire::Frame::of({bytes.begin(), bytes.end()})});
    return {};
}

} // namespace

QString DaemonAddress::full() const
{
    const QString trimmed = address.trimmed();
    return trimmed.contains(QStringLiteral("://")) ? trimmed : QStringLiteral("tcp://") + trimmed;
}

QString SidePlan::name() const
{
    return isFile ? QFileInfo(file).fileName()
                  : QStringLiteral("%1 @ %2").arg(model, daemon.address.trimmed());
}

Result<wire::RunRequest> requestOf(const LivePlan& plan, const SidePlan& side, bool scores)
{
    wire::RunRequest request;
    if (side.model.isEmpty())
        return Error{Errc::Invalid, "no model is chosen", side.daemon.address.toStdString(),
                     "Connect, then choose one of the daemon's models"};
    request.model = side.model.toStdString();
    if (!side.policy.isEmpty())
        request.options["policy"] = side.policy.toStdString();
    if (!side.arithmetic.isEmpty())
        request.options["arithmetic"] = side.arithmetic.toStdString();
    if (!plan.level.isEmpty())
        request.options["level"] = plan.level.toStdString();
    if (const QStringList taps = plan.taps.split(' ', Qt::SkipEmptyParts); !taps.isEmpty()) {
        std::vector<std::string> patterns;
        for (const QString& pattern : taps)
            patterns.push_back(pattern.toStdString());
        request.options["taps"] = std::move(patterns);
    }
    if (!scores) {
        request.options["max-new"] = static_cast<std::int64_t>(plan.maxNew);
        if (auto added = addPrompt(plan, request); !added)
            return added.error();
    }
    // Last, so that what was written by hand counts.
    if (auto added = addWords(side.options, request); !added)
        return added.error();
    return request;
}

} // namespace moire::widgets
