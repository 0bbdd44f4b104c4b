// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/run_bar.h"

#include "core/base/text.h"
#include "core/report/number.h"
#include "widgets/views/paint.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QToolButton>
#include <QToolTip>

#include <algorithm>

namespace moire::widgets {

namespace {

constexpr int barHeight = 36;
constexpr int swapWidth = 32;
constexpr int edgeWidth = 3;

namespace env = trace::env;

/// The fields that stand in the line whether they differ or not, with the word before the value.
struct Field
{
    std::string_view key;
    const char* word;
};
constexpr std::array shownFields{Field{env::policy, ""},       Field{env::arithmetic, ""},
                                 Field{env::kPlan, ""},        Field{env::replay, ""},
                                 Field{env::construction, ""}, Field{env::tpSize, "tp "},
                                 Field{env::device, ""},       Field{env::arch, ""}};

bool isMarked(const diff::Report& report, std::string_view key)
{
    return std::any_of(report.environmentDifferences.begin(), report.environmentDifferences.end(),
                       [key](const auto& difference) { return difference.key == key; });
}

bool isShown(std::string_view key)
{
    return key == env::modelName
           || std::any_of(shownFields.begin(), shownFields.end(),
                          [key](const Field& field) { return field.key == key; });
}

QString shown(const std::string& text)
{
    return QString::fromStdString(base::visibleText(text));
}

/// A chip's text: the tool tip has the whole.
QString shortened(const QString& text)
{
    constexpr qsizetype longest = 22;
    return text.size() <= longest ? text : text.left(longest - 1) + QStringLiteral("…");
}

} // namespace

RunBar::RunBar(const Look& look, QWidget* parent)
    : QWidget(parent)
    , m_look(look)
    , m_swap(new QToolButton(this))
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setCursor(Qt::PointingHandCursor);
    setAccessibleName(QStringLiteral("The two runs"));
    m_swap->setIcon(look.icon(QStringLiteral("swap")));
    m_swap->setToolTip(QStringLiteral("Swap reference and target (Alt+\\)"));
    m_swap->setAccessibleName(QStringLiteral("Swap sides"));
    connect(m_swap, &QToolButton::clicked, this, &RunBar::swapRequested);
    connect(&look, &Look::changed, this, [this] {
        m_swap->setIcon(m_look.icon(QStringLiteral("swap")));
        update();
    });
}

QSize RunBar::sizeHint() const
{
    return {640, barHeight};
}

RunBar::Side RunBar::sideOf(const diff::Report& report, const diff::RunSummary& run,
                            const QString& title)
{
    Side side{title, shown(run.environment.text(env::modelName)), shown(run.file), {}};
    if (side.model.isEmpty())
        side.model = side.file.section('/', -1);
    if (!run.complete)
        side.chips.append({QStringLiteral("incomplete"), true});
    for (const Field& field : shownFields) {
        const std::string value = run.environment.text(field.key);
        if (!value.empty())
            side.chips.append({field.word + shown(value), isMarked(report, field.key)});
    }
    // What else differs comes before the size, by the last part of its name.
    for (const diff::EnvironmentDifference& difference : report.environmentDifferences) {
        if (isShown(difference.key))
            continue;
        const std::string value = run.environment.text(difference.key);
        if (!value.empty())
            side.chips.append(
                {shown(difference.key).section('.', -1).replace('_', ' ') + ' ' + shown(value),
                 true});
    }
    side.chips.append({shown(report::countOf(run.samples, "sample")) + QStringLiteral(" · ")
                           + shown(report::countOf(run.rows, "row")),
                       false});
    // The marked ones first among equals in space: they are what one looks for.
    std::stable_partition(side.chips.begin(), side.chips.end(),
                          [](const Chip& chip) { return chip.differs; });
    return side;
}

void RunBar::setCompared(const Compared& compared)
{
    m_reference = sideOf(compared.report, compared.report.reference, QStringLiteral("Reference"));
    m_target = sideOf(compared.report, compared.report.target, QStringLiteral("Target"));
    update();
}

QRect RunBar::sideRect(bool target) const
{
    const int side = (width() - swapWidth - 2 * Look::gap) / 2;
    return target ? QRect(width() - side, 0, side, barHeight) : QRect(0, 0, side, barHeight);
}

void RunBar::resizeEvent(QResizeEvent*)
{
    m_swap->setGeometry(sideRect(false).right() + 1 + Look::gap, Look::step / 2, swapWidth,
                        barHeight - Look::step);
}

void RunBar::paintSide(QPainter& painter, const Side& side, const QRect& rect,
                       const QColor& colour) const
{
    const Theme& theme = m_look.theme();
    paint::card(painter, theme, rect);
    painter.fillRect(rect.x(), rect.y() + Look::corner / 2, edgeWidth, rect.height() - Look::corner,
                     colour);
    const int right = rect.right() - Look::gap;
    int x = rect.x() + Look::inset;
    const auto word = [&](const QString& text, TextRole role, const QColor& ink, int limit) {
        x += paint::text(painter, QRect(x, rect.y(), std::min(limit, right - x), rect.height()),
                         Qt::AlignLeft | Qt::AlignVCenter, text, m_look.font(role), ink,
                         Qt::ElideMiddle)
             + Look::gap;
    };
    word(side.title, TextRole::BaseStrong, colour, right - x);
    word(side.model, TextRole::Base, theme.ink, (right - x) / 2);
    const int y = rect.y() + (rect.height() - paint::chipHeight) / 2;
    for (qsizetype i = 0; i < side.chips.size(); ++i) {
        const auto left = side.chips.size() - i;
        const QString more = QStringLiteral("+%1").arg(left);
        const int reserve = left > 1 ? paint::chipWidth(m_look, more) + Look::step : 0;
        if (x + paint::chipWidth(m_look, shortened(side.chips[i].text)) + reserve > right) {
            if (x + paint::chipWidth(m_look, more) <= right)
                paint::chip(painter, m_look, {x, y}, more, false);
            break;
        }
        x += paint::chip(painter, m_look, {x, y}, shortened(side.chips[i].text),
                         side.chips[i].differs)
             + Look::step;
    }
}

void RunBar::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    paintSide(painter, m_reference, sideRect(false), m_look.theme().reference);
    paintSide(painter, m_target, sideRect(true), m_look.theme().target);
}

void RunBar::mousePressEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton)
        Q_EMIT environmentRequested();
}

bool RunBar::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        auto* help = static_cast<QHelpEvent*>(event);
        const Side& side = sideRect(true).contains(help->pos()) ? m_target : m_reference;
        QStringList lines{side.file};
        for (const Chip& chip : side.chips)
            lines.append(chip.differs ? chip.text + QStringLiteral("  (differs)") : chip.text);
        lines.append(QStringLiteral("Click for the whole environment"));
        QToolTip::showText(help->globalPos(), lines.join('\n'), this);
        return true;
    }
    return QWidget::event(event);
}

void RunBar::setSwappable(bool swappable)
{
    m_swap->setEnabled(swappable);
}

} // namespace moire::widgets
