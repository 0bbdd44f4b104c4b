// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/verdict_bar.h"

#include "core/base/text.h"
#include "widgets/views/paint.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMouseEvent>
#include <QRegularExpression>
#include <QToolButton>

namespace moire::widgets {

namespace {

constexpr int markColumn = 20;
constexpr int longVerdict = 140; // characters; longer ones are set a little smaller
constexpr int leadLimit = 60;    // characters; a colon behind them does not end a heading

} // namespace

QString verdictMarkup(const QString& verdict, const QString& monoFamily)
{
    static const QRegularExpression tapName(
        QStringLiteral("\\b[A-Za-z_]+(?:\\.[A-Za-z0-9_]+)+\\b"));
    QString html;
    qsizetype from = 0;
    const qsizetype colon = verdict.indexOf(QLatin1String(": "));
    if (colon > 0 && colon < leadLimit) {
        html = QStringLiteral("<b>%1</b>").arg(verdict.left(colon + 1).toHtmlEscaped());
        from = colon + 1;
    }
    auto matches = tapName.globalMatch(verdict, from);
    while (matches.hasNext()) {
        const auto match = matches.next();
        html += verdict.mid(from, match.capturedStart() - from).toHtmlEscaped();
        html += QStringLiteral("<span style=\"font-family:'%1'; font-size:14px\">%2</span>")
                    .arg(monoFamily.toHtmlEscaped(), match.captured().toHtmlEscaped());
        from = match.capturedEnd();
    }
    return html + verdict.mid(from).toHtmlEscaped();
}

VerdictBar::VerdictBar(const Look& look, QWidget* parent)
    : QWidget(parent)
    , m_look(look)
    , m_text(new QLabel(this))
    , m_copy(new QToolButton(this))
{
    constexpr int leastHeight = 48;
    setMinimumHeight(leastHeight);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(Look::inset + markColumn, Look::gap, Look::inset, Look::gap);
    layout->setSpacing(Look::inset);
    m_text->setTextFormat(Qt::RichText);
    m_text->setWordWrap(true);
    m_text->setAttribute(Qt::WA_TransparentForMouseEvents);
    m_copy->setText(QStringLiteral("Copy link"));
    m_copy->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_copy->setToolTip(QStringLiteral("Copy a link to this place (Ctrl+L)"));
    layout->addWidget(m_text, 1);
    layout->addWidget(m_copy);
    setToolTip(QStringLiteral("Go to the first divergence"));
    connect(m_copy, &QToolButton::clicked, this, &VerdictBar::copyLinkRequested);
    connect(&look, &Look::changed, this, &VerdictBar::restyle);
    restyle();
}

void VerdictBar::setReport(const diff::Report& report)
{
    m_verdict = QString::fromStdString(base::visibleText(report.verdict));
    m_exit = report.exit;
    restyle();
}

void VerdictBar::restyle()
{
    QFont font = m_look.font(TextRole::Verdict);
    if (m_verdict.size() > longVerdict)
        font.setPixelSize(font.pixelSize() - 1);
    m_text->setFont(font);
    m_text->setText(verdictMarkup(m_verdict, m_look.font(TextRole::Mono).family()));
    m_text->setAccessibleName(m_verdict);
    m_copy->setIcon(m_look.icon(QStringLiteral("copy")));
    update();
}

void VerdictBar::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const Theme& theme = m_look.theme();
    paint::card(painter, theme, rect());
    const QPointF centre(Look::inset + 6, height() / 2.0);
    if (m_exit == 0) {
        constexpr qreal radius = 4.5;
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme.reference);
        painter.drawEllipse(centre, radius, radius);
    } else {
        painter.translate(centre);
        painter.scale(1.4, 1.4);
        paint::routeMark(painter, {0, 0}, theme.target);
    }
}

void VerdictBar::mousePressEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton)
        Q_EMIT firstRequested();
}

} // namespace moire::widgets
