// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/live_view.h"

#include "core/base/text.h"

#include <QGridLayout>
#include <QLabel>
#include <QLocale>
#include <QProgressBar>
#include <QPushButton>
#include <QStackedLayout>

#include <algorithm>

namespace moire::widgets {

namespace {

constexpr int barHeight = 6;
constexpr std::array bothSides{live::Which::Reference, live::Which::Target};

QString sizeText(double bytes)
{
    return QLocale::c().formattedDataSize(static_cast<qint64>(bytes), 1, QLocale::DataSizeSIFormat);
}

QString counted(std::uint64_t number, const QString& thing)
{
    return QStringLiteral("%1 %2%3").arg(QString::number(number), thing,
                                         number == 1 ? QString() : QStringLiteral("s"));
}

} // namespace

QString stateText(const live::SideStatus& status)
{
    if (status.isFile)
        return QStringLiteral("a file");
    if (!isOver(status.state) && status.link == wire::LinkState::Lost)
        return QStringLiteral("link lost, trying again");
    if (!isOver(status.state) && status.link == wire::LinkState::Refused)
        return QStringLiteral("refused by the daemon");
    switch (status.state) {
    case live::SideState::Idle:
        return QStringLiteral("waits for the reference");
    case live::SideState::Connecting:
        return QStringLiteral("connecting");
    case live::SideState::Queued:
        return status.place == 0 ? QStringLiteral("queued")
                                 : QStringLiteral("queued, %1 before it").arg(status.place);
    case live::SideState::Loading:
        return QStringLiteral("loading the model");
    case live::SideState::Running:
        return QStringLiteral("running");
    case live::SideState::Waiting:
        return QStringLiteral("the model waits for this window");
    case live::SideState::Finished:
        return QStringLiteral("finished");
    case live::SideState::Cancelled:
        return QStringLiteral("cancelled");
    case live::SideState::Failed:
        return QStringLiteral("failed");
    case live::SideState::Lost:
        return QStringLiteral("the daemon ended first");
    }
    return {};
}

QString reasonedText(const live::SideStatus& status)
{
    const QString text = stateText(status);
    return status.trouble.sentence.empty()
               ? text
               : text + QStringLiteral(" · ")
                     + QString::fromStdString(base::visibleText(status.trouble.text()));
}

QString trafficText(const live::SideStatus& status)
{
    QStringList parts;
    parts.append(status.planned > 0
                     ? QStringLiteral("%1 of %2 rows").arg(status.rows).arg(status.planned)
                     : counted(status.rows, QStringLiteral("row")));
    if (status.isFile)
        return parts.first();
    if (!isOver(status.state))
        parts.append(QStringLiteral("%1/s").arg(sizeText(status.bytesPerSecond)));
    parts.append(
        QStringLiteral("%1 received").arg(sizeText(static_cast<double>(status.count.bytes))));
    if (status.count.waiting > 0)
        parts.append(
            QStringLiteral("%1 waiting").arg(sizeText(static_cast<double>(status.count.waiting))));
    if (status.waited > 0)
        parts.append(QStringLiteral("the model waited %1 s").arg(status.waited, 0, 'f', 1));
    if (status.count.resumed > 0)
        parts.append(QStringLiteral("resumed %1")
                         .arg(counted(status.count.resumed, QStringLiteral("time"))));
    parts.append(status.lostRows > 0
                     ? counted(status.lostRows, QStringLiteral("row")) + QStringLiteral(" lost")
                     : QStringLiteral("no gaps"));
    return parts.join(QStringLiteral(" · "));
}

LiveView::LiveView(const Look& look, QWidget* parent)
    : QWidget(parent)
    , m_look(look)
    , m_none(new StateView(look))
    , m_stack(new QStackedLayout(this))
    , m_together(new QLabel)
    , m_cancel(new QPushButton(QStringLiteral("Cancel")))
{
    m_none->setState(QStringLiteral("No live run"),
                     QStringLiteral("Two daemons can be compared row by row while they run."),
                     QStringLiteral("moire-capture serve --models FOLDER starts one."));
    m_stack->addWidget(m_none);
    m_stack->addWidget(makeBody());
    connect(m_cancel, &QPushButton::clicked, this, &LiveView::cancelRequested);
    connect(&look, &Look::changed, this, &LiveView::restyle);
    restyle();
}

void LiveView::addAction(QAction* action)
{
    m_none->addAction(action, true);
}

LiveView::Row LiveView::makeRow(const QString& title, live::Which which)
{
    Row row{new QLabel(title), new QLabel, new QProgressBar, new QLabel,
            new QPushButton(QStringLiteral("Save…"))};
    row.progress->setTextVisible(false);
    row.progress->setFixedHeight(barHeight);
    row.progress->setAccessibleName(title);
    row.facts->setTextFormat(Qt::PlainText);
    row.facts->setWordWrap(true);
    row.state->setTextFormat(Qt::PlainText);
    row.state->setWordWrap(true);
    row.save->setToolTip(
        QStringLiteral("Keep what has come as a capture; an unfinished run as an incomplete one"));
    connect(row.save, &QPushButton::clicked, this, [this, which] { Q_EMIT saveRequested(which); });
    return row;
}

QWidget* LiveView::makeBody()
{
    auto* body = new QWidget;
    auto* grid = new QGridLayout(body);
    grid->setContentsMargins(Look::inset, Look::gap, Look::inset, Look::step);
    grid->setHorizontalSpacing(Look::gap);
    grid->setVerticalSpacing(Look::step);
    grid->setColumnStretch(1, 1);
    constexpr int linesOfRow = 3; // name and state, bar, facts
    for (std::size_t i = 0; i < bothSides.size(); ++i) {
        const bool reference = bothSides[i] == live::Which::Reference;
        m_rows[i] = makeRow(reference ? QStringLiteral("Reference") : QStringLiteral("Target"),
                            bothSides[i]);
        const int line = static_cast<int>(i) * linesOfRow;
        grid->addWidget(m_rows[i].name, line, 0);
        grid->addWidget(m_rows[i].state, line, 1);
        grid->addWidget(m_rows[i].save, line, 2, Qt::AlignRight);
        grid->addWidget(m_rows[i].progress, line + 1, 0, 1, 3);
        grid->addWidget(m_rows[i].facts, line + 2, 0, 1, 3);
    }
    const int last = linesOfRow * static_cast<int>(bothSides.size());
    grid->addWidget(m_together, last, 0, 1, 2);
    grid->addWidget(m_cancel, last, 2, Qt::AlignRight);
    grid->setRowStretch(last + 1, 1);
    return body;
}

void LiveView::setSession(LiveSession* session)
{
    if (m_session)
        disconnect(m_session, nullptr, this, nullptr);
    m_session = session;
    m_stack->setCurrentIndex(session == nullptr ? 0 : 1);
    if (session == nullptr)
        return;
    connect(session, &LiveSession::changed, this, &LiveView::refresh);
    connect(session, &LiveSession::compared, this, &LiveView::refresh);
    refresh();
}

void LiveView::showRow(const Row& row, live::Which which)
{
    const live::SideStatus status = m_session->status(which);
    const SidePlan& side =
        which == live::Which::Reference ? m_session->plan().reference : m_session->plan().target;
    row.state->setText(side.name() + QStringLiteral(" · ") + reasonedText(status));
    // A plan is what the run has at most; one that has ended early is done all the same.
    const std::uint64_t planned = isOver(status.state) ? status.rows : status.planned;
    row.progress->setRange(0, planned == 0 && !isOver(status.state) ? 0 : 1000);
    if (planned > 0)
        row.progress->setValue(
            static_cast<int>(std::min<std::uint64_t>(1000, 1000 * status.rows / planned)));
    else if (isOver(status.state))
        row.progress->setValue(0);
    row.facts->setText(trafficText(status));
    row.save->setEnabled(!side.isFile && status.rows > 0);
}

void LiveView::refresh()
{
    if (!m_session)
        return;
    showRow(m_rows[0], live::Which::Reference);
    showRow(m_rows[1], live::Which::Target);
    m_together->setText(QStringLiteral("%1 compared · %2 s")
                            .arg(counted(m_session->rowsCompared(), QStringLiteral("row")))
                            .arg(m_session->seconds(), 0, 'f', 1));
    m_cancel->setEnabled(!m_session->isOver());
}

void LiveView::restyle()
{
    const Theme& theme = m_look.theme();
    const std::array colours{theme.reference, theme.target};
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        m_rows[i].name->setStyleSheet(
            QStringLiteral("color: %1; font-weight: 600").arg(colours[i].name()));
        m_rows[i].progress->setStyleSheet(
            QStringLiteral("QProgressBar::chunk { background: %1; border-radius: 3px; }")
                .arg(colours[i].name()));
        m_rows[i].facts->setFont(m_look.font(TextRole::MonoSmall));
        m_rows[i].facts->setStyleSheet(QStringLiteral("color: %1").arg(theme.dim.name()));
    }
    m_together->setFont(m_look.font(TextRole::Small));
}

} // namespace moire::widgets
