// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/gui/live_control.h"

#include "core/base/freed_memory.h"
#include "core/base/text.h"
#include "widgets/dialogs/live_dialog.h"
#include "widgets/dialogs/open_dialog.h"

#include <QFileDialog>
#include <QSettings>

namespace moire::gui {

using namespace widgets;

namespace {

const QString group = QStringLiteral("live");

void store(QSettings& settings, const QString& name, const SidePlan& side)
{
    settings.beginGroup(name);
    settings.setValue(QStringLiteral("isFile"), side.isFile);
    settings.setValue(QStringLiteral("file"), side.file);
    settings.setValue(QStringLiteral("address"), side.daemon.address);
    settings.setValue(QStringLiteral("key"), side.daemon.key);
    settings.setValue(QStringLiteral("serverKey"), side.daemon.serverKey);
    settings.setValue(QStringLiteral("model"), side.model);
    settings.setValue(QStringLiteral("policy"), side.policy);
    settings.setValue(QStringLiteral("arithmetic"), side.arithmetic);
    settings.setValue(QStringLiteral("options"), side.options);
    settings.endGroup();
}

/// That a link is not encrypted is asked for anew each time.
SidePlan loadSide(QSettings& settings, const QString& name)
{
    settings.beginGroup(name);
    const auto text = [&settings](const char* key) {
        return settings.value(QString::fromLatin1(key)).toString();
    };
    SidePlan side;
    side.isFile = settings.value(QStringLiteral("isFile"), false).toBool();
    side.file = text("file");
    side.daemon = {text("address"), text("key"), text("serverKey"), false};
    side.model = text("model");
    side.policy = text("policy");
    side.arithmetic = text("arithmetic");
    side.options = text("options");
    settings.endGroup();
    return side;
}

void store(const LivePlan& plan)
{
    QSettings settings;
    settings.beginGroup(group);
    store(settings, QStringLiteral("reference"), plan.reference);
    store(settings, QStringLiteral("target"), plan.target);
    settings.setValue(QStringLiteral("text"), plan.text);
    settings.setValue(QStringLiteral("promptsFile"), plan.promptsFile);
    settings.setValue(QStringLiteral("maxNew"), plan.maxNew);
    settings.setValue(QStringLiteral("taps"), plan.taps);
    settings.setValue(QStringLiteral("level"), plan.level);
    settings.setValue(QStringLiteral("lossless"), plan.lossless);
}

LivePlan loadPlan()
{
    QSettings settings;
    settings.beginGroup(group);
    LivePlan plan;
    plan.reference = loadSide(settings, QStringLiteral("reference"));
    plan.target = loadSide(settings, QStringLiteral("target"));
    plan.text = settings.value(QStringLiteral("text")).toString();
    plan.promptsFile = settings.value(QStringLiteral("promptsFile")).toString();
    plan.maxNew = settings.value(QStringLiteral("maxNew"), plan.maxNew).toInt();
    plan.taps = settings.value(QStringLiteral("taps")).toString();
    plan.level = settings.value(QStringLiteral("level")).toString();
    plan.lossless = settings.value(QStringLiteral("lossless"), true).toBool();
    return plan;
}

} // namespace

LiveControl::LiveControl(const Look& look, QWidget& window)
    : QObject(&window)
    , m_look(look)
    , m_window(window)
{}

void LiveControl::rememberPlan()
{
    m_remembers = true;
    m_plan = loadPlan();
}

void LiveControl::ask()
{
    auto* dialog = new LiveDialog(m_look, m_plan, &m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog] { start(dialog->plan(), m_judging); });
    dialog->open();
}

void LiveControl::start(const LivePlan& plan, const Judging& judging)
{
    base::keepFreedMemory();
    close();
    m_plan = plan;
    if (m_remembers)
        store(plan);
    auto tolerance = toleranceOf(judging);
    if (!tolerance)
        return Q_EMIT failed(tolerance.error());
    diff::ComparisonOptions options;
    options.tolerance = std::move(*tolerance);
    auto pair = pairOptionsOf(plan);
    if (!pair)
        return Q_EMIT failed(pair.error());
    m_session = std::make_unique<LiveSession>(plan, std::move(*pair), options);
    m_shown = false;
    connect(m_session.get(), &LiveSession::compared, this, &LiveControl::take);
    connect(m_session.get(), &LiveSession::failed, this, &LiveControl::failed);
    connect(m_session.get(), &LiveSession::over, this, &LiveControl::over);
    connect(m_session.get(), &LiveSession::saved, this,
            [this](const QString& path, const Result<void>& result) {
                Q_EMIT noticed(
                    result ? QStringLiteral("Saved %1").arg(path)
                           : QString::fromStdString(base::visibleText(result.error().text())));
            });
    Q_EMIT sessionChanged(m_session.get());
    m_session->start();
}

void LiveControl::take(const ComparedPointer& compared)
{
    const bool first = !m_shown;
    m_shown = true;
    if (first)
        Q_EMIT opened(compared);
    else
        Q_EMIT grown(compared);
}

void LiveControl::close()
{
    if (!m_session)
        return;
    m_session->cancel();
    Q_EMIT sessionChanged(nullptr);
    m_session.reset();
}

void LiveControl::cancel()
{
    if (m_session)
        m_session->cancel();
}

void LiveControl::askToSave(live::Which which)
{
    if (!m_session)
        return;
    auto* dialog =
        new QFileDialog(&m_window, QStringLiteral("Save the run as a capture"),
                        which == live::Which::Reference ? QStringLiteral("reference.moire")
                                                        : QStringLiteral("target.moire"),
                        captureFilter());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("moire"));
    connect(dialog, &QFileDialog::fileSelected, this, [this, which](const QString& path) {
        if (m_session)
            m_session->save(which, path);
    });
    dialog->open();
}

} // namespace moire::gui
