// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/verdict_bar.h"

#include "core/base/text.h"
#include "widgets/views/paint.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMouseEvent>
#include <QRegularExpression>
#include <QTextBlock>
#include <QTextDocument>
#include <QTextLayout>
#include <QToolButton>
#include <QVBoxLayout>

namespace moire::widgets {

namespace {

constexpr int markColumn = 20;
constexpr int longVerdict = 140; // characters; longer ones are set a little smaller
constexpr int leadLimit = 60;    // characters; a colon behind them does not end a heading

int linesOf(const QString& text, const QFont& font, const QString& monoFamily, int width)
{
    QTextDocument document;
    document.setDocumentMargin(0);
    document.setDefaultFont(font);
    document.setHtml(verdictMarkup(text, monoFamily));
    document.setTextWidth(width);
    document.size(); // lays it out
    return document.firstBlock().layout()->lineCount();
}

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

QString fittedVerdict(const QString& text, const QFont& font, const QString& monoFamily, int width,
                      int lines)
{
    if (width <= 0 || linesOf(text, font, monoFamily, width) <= lines)
        return text;
    const QStringList words = text.split(QLatin1Char(' '));
    const auto beginning = [&words](qsizetype count) {
        return words.first(count).join(QLatin1Char(' ')) + QStringLiteral(" …");
    };
    qsizetype fits = 1; // words
    qsizetype tooMany = words.size();
    while (fits + 1 < tooMany) {
        const qsizetype middle = (fits + tooMany) / 2;
        if (linesOf(beginning(middle), font, monoFamily, width) <= lines)
            fits = middle;
        else
            tooMany = middle;
    }
    return beginning(fits);
}

QString causeText(const diff::Report& report)
{
    QStringList sentences;
    if (!report.cause.empty())
        sentences.append(QStringLiteral("Cause: ")
                         + QString::fromStdString(base::visibleText(report.cause)));
    // A verdict that speaks of the tolerance has said it; how many criteria were met is in the tip.
    if (report.verdict.find("olerance") == std::string::npos)
        sentences.append(toleranceText(report));
    sentences.removeAll(QString());
    return sentences.join(QLatin1Char(' '));
}

QString toleranceText(const diff::Report& report)
{
    if (report.toleranceProfile.empty())
        return {};
    const diff::CriterionOutcome* worst = nullptr;
    std::size_t failed = 0;
    std::uint64_t undecided = 0;
    for (const diff::CriterionOutcome& outcome : report.tolerance) {
        undecided += outcome.undecided;
        if (outcome.failed == 0)
            continue;
        ++failed;
        if (worst == nullptr || outcome.failed > worst->failed)
            worst = &outcome;
    }
    const QString profile = QString::fromStdString(base::visibleText(report.toleranceProfile));
    if (worst == nullptr)
        return undecided == 0
                   ? QStringLiteral("Within the tolerance of %1.").arg(profile)
                   : QStringLiteral("Tolerance of %1: undecided at %2 sites, whose values were not "
                                    "recorded.")
                         .arg(profile)
                         .arg(undecided);
    return QStringLiteral(
               "Beyond the tolerance of %1: %2 of %3 criteria not met, most often %4 for "
               "%5 (%6 of %7).")
        .arg(profile)
        .arg(failed)
        .arg(report.tolerance.size())
        .arg(QString::fromStdString(base::visibleText(worst->criterion)),
             QString::fromStdString(base::visibleText(worst->pattern)))
        .arg(worst->failed)
        .arg(worst->checked);
}

VerdictBar::VerdictBar(const Look& look, QWidget* parent)
    : QWidget(parent)
    , m_look(look)
    , m_text(new QLabel(this))
    , m_cause(new QLabel(this))
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
    m_cause->setTextFormat(Qt::RichText);
    m_cause->setWordWrap(true);
    m_cause->setAttribute(Qt::WA_TransparentForMouseEvents);
    auto* lines = new QVBoxLayout;
    lines->setSpacing(2);
    lines->addWidget(m_text);
    lines->addWidget(m_cause);
    layout->addLayout(lines, 1);
    layout->addWidget(m_copy);
    connect(m_copy, &QToolButton::clicked, this, &VerdictBar::copyLinkRequested);
    connect(&look, &Look::changed, this, &VerdictBar::restyle);
    restyle();
}

void VerdictBar::setReport(const diff::Report& report)
{
    m_verdict = QString::fromStdString(base::visibleText(report.verdict));
    m_exit = report.exit;
    m_causeText = causeText(report);
    QString tip; // rich text, which is wrapped
    const auto add = [&tip](const QString& text, const char* style) {
        if (!text.isEmpty())
            tip += QStringLiteral("<p style=\"%1\">%2</p>")
                       .arg(QString::fromLatin1(style), text.toHtmlEscaped());
    };
    constexpr const char* sentence = "margin:0 0 6px 0";
    constexpr const char* evidence = "margin:0 0 0 16px";
    add(m_verdict, sentence);
    add(toleranceText(report), sentence);
    for (const diff::CauseFinding& finding : report.causeFindings) {
        add(QString::fromStdString(base::visibleText(finding.sentence)), "margin:0");
        for (const std::string& fact : finding.evidence)
            add(QString::fromStdString(base::visibleText(fact)), evidence);
    }
    add(QStringLiteral("Click: go to the first divergence"), "margin:6px 0 0 0");
    setToolTip(tip);
    restyle();
}

void VerdictBar::restyle()
{
    QFont font = m_look.font(TextRole::Verdict);
    if (m_verdict.size() > longVerdict)
        font.setPixelSize(font.pixelSize() - 1);
    m_text->setFont(font);
    m_text->setAccessibleName(m_verdict);
    m_cause->setVisible(!m_causeText.isEmpty());
    m_cause->setFont(m_look.font(TextRole::Base));
    m_cause->setAccessibleName(m_causeText);
    m_copy->setIcon(m_look.icon(QStringLiteral("copy")));
    fit();
    update();
}

void VerdictBar::fit()
{
    const QMargins margins = layout()->contentsMargins();
    const int room = width() - margins.left() - margins.right() - layout()->spacing()
                     - m_copy->sizeHint().width();
    const QString mono = m_look.font(TextRole::Mono).family();
    // A number stays with its unit.
    QString unbroken = m_verdict;
    unbroken.replace(QLatin1String(" %"), QString(QChar(QChar::Nbsp)) + QLatin1Char('%'));
    m_text->setText(
        verdictMarkup(fittedVerdict(unbroken, m_text->font(), mono, room, m_low ? 2 : 3), mono));
    m_cause->setText(QStringLiteral("<span style=\"color:%1\">%2</span>")
                         .arg(m_look.theme().dim.name(),
                              verdictMarkup(fittedVerdict(m_causeText, m_cause->font(), mono, room,
                                                          m_low ? 1 : 2),
                                            mono)));
}

void VerdictBar::setLow(bool low)
{
    if (low == m_low)
        return;
    m_low = low;
    fit();
}

void VerdictBar::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    fit();
}

void VerdictBar::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const Theme& theme = m_look.theme();
    paint::card(painter, theme, rect());
    // Beside the verdict's first line, which stands in the middle when it is the only one.
    const int line = m_text->fontMetrics().height();
    const QRectF place(m_text->geometry());
    const QPointF centre(Look::inset + 6,
                         place.height() < 2 * line ? place.center().y() : place.top() + line / 2.0);
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

void VerdictBar::setLinkable(bool linkable)
{
    m_copy->setEnabled(linkable);
}

} // namespace moire::widgets
