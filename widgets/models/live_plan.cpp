// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/models/live_plan.h"

#include "core/live/run_options.h"

#include <QFileInfo>

namespace moire::widgets {

namespace {

Result<void> addPrompt(const LivePlan& plan, wire::RunRequest& request)
{
    if (!plan.promptsFile.isEmpty())
        return live::addFile("prompts", plan.promptsFile.toStdString(), request);
    if (!plan.text.isEmpty())
        request.options["text"] = plan.text.toStdString();
    return {};
}

} // namespace

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
    if (auto added = live::addOptions(side.options.toStdString(), request); !added)
        return added.error();
    if (!scores)
        if (auto checked = live::checkPrompt(request); !checked)
            return checked.error();
    return request;
}

} // namespace moire::widgets
