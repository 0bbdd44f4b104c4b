// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/dialogs/live_dialog.h"

#include "core/base/text.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QToolButton>

namespace moire::widgets {

namespace {

constexpr int rest = 400; // ms without a change before an estimate is asked for
constexpr int textLines = 4;
constexpr int mostTokens = 1'000'000;
constexpr int losslessPlace = 0;

QString textOf(const wire::Estimate& estimate)
{
    const QLocale locale = QLocale::c();
    return QStringLiteral("at most %1 rows of %2 taps, %3, roughly %4 s")
        .arg(estimate.rows)
        .arg(estimate.taps)
        .arg(locale.formattedDataSize(static_cast<qint64>(estimate.bytes), 1,
                                      QLocale::DataSizeSIFormat))
        .arg(estimate.seconds, 0, 'g', 2);
}

} // namespace

LiveDialog::LiveDialog(const Look& look, const LivePlan& plan, QWidget* parent)
    : QDialog(parent)
    , m_look(look)
    , m_reference(new LiveSideForm(look, QStringLiteral("Reference"), look.theme().reference))
    , m_target(new LiveSideForm(look, QStringLiteral("Target"), look.theme().target))
    , m_text(new QPlainTextEdit)
    , m_promptsFile(new QLineEdit)
    , m_maxNew(new QSpinBox)
    , m_taps(new QLineEdit)
    , m_level(new QComboBox)
    , m_delivery(new QComboBox)
    , m_hint(new QLabel)
{
    setWindowTitle(QStringLiteral("Capture live"));
    constexpr int leastWidth = 860;
    setMinimumWidth(leastWidth);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 16, 16, 16);
    layout->setSpacing(Look::inset);
    layout->addWidget(makeSides());
    layout->addWidget(makeShared());
    m_hint->setFont(look.font(TextRole::Small));
    m_hint->setStyleSheet(QStringLiteral("color: %1").arg(look.theme().dim.name()));
    layout->addWidget(m_hint);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    m_start = buttons->addButton(QStringLiteral("&Start"), QDialogButtonBox::AcceptRole);
    m_start->setObjectName(QStringLiteral("primary"));
    layout->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    m_text->setPlainText(plan.text);
    m_promptsFile->setText(plan.promptsFile);
    m_maxNew->setValue(plan.maxNew);
    m_taps->setText(plan.taps);
    m_level->setCurrentText(plan.level);
    m_delivery->setCurrentIndex(plan.lossless ? losslessPlace : losslessPlace + 1);
    m_settle.setSingleShot(true);
    m_settle.setInterval(rest);
    connect(&m_settle, &QTimer::timeout, this, &LiveDialog::estimate);
    for (LiveSideForm* form : {m_reference, m_target}) {
        connect(form, &LiveSideForm::changed, this, &LiveDialog::check);
        connect(&form->link(), &DaemonLink::estimated, this,
                [this, form](const Result<wire::Estimate>& told) { showEstimate(form, told); });
    }
    m_reference->setSide(plan.reference);
    m_target->setSide(plan.target);
    check();
}

QWidget* LiveDialog::makeSides()
{
    auto* sides = new QWidget;
    auto* columns = new QHBoxLayout(sides);
    columns->setContentsMargins(0, 0, 0, 0);
    columns->setSpacing(2 * Look::inset);
    columns->addWidget(m_reference, 1);
    columns->addWidget(m_target, 1);
    return sides;
}

QWidget* LiveDialog::makeShared()
{
    auto* shared = new QWidget;
    auto* form = new QFormLayout(shared);
    form->setContentsMargins(0, 0, 0, 0);
    form->setVerticalSpacing(Look::step);
    form->setHorizontalSpacing(Look::gap);
    m_text->setPlaceholderText(QStringLiteral("What both runs are given"));
    m_text->setTabChangesFocus(true);
    m_text->setFixedHeight(textLines * fontMetrics().lineSpacing() + 2 * Look::gap);
    form->addRow(QStringLiteral("&Prompt"), m_text);
    m_promptsFile->setPlaceholderText(
        QStringLiteral("or a file of JSON lines with several prompts"));
    auto* browse = new QToolButton;
    browse->setText(QStringLiteral("Browse…"));
    connect(browse, &QToolButton::clicked, this, [this] {
        const QString file = QFileDialog::getOpenFileName(
            this, QStringLiteral("Choose prompts"), m_promptsFile->text(),
            QStringLiteral("JSON lines (*.jsonl *.json);;All files (*)"));
        if (!file.isEmpty())
            m_promptsFile->setText(file);
    });
    auto* fileRow = new QHBoxLayout;
    fileRow->setSpacing(Look::step);
    fileRow->addWidget(m_promptsFile, 1);
    fileRow->addWidget(browse);
    form->addRow(QString(), fileRow);
    m_maxNew->setRange(0, mostTokens);
    m_level->addItems({QStringLiteral("full"), QStringLiteral("topk"), QStringLiteral("digest")});
    m_delivery->addItems({QStringLiteral("lossless"), QStringLiteral("latest")});
    m_delivery->setToolTip(
        QStringLiteral("lossless: every row arrives, the run waits if it must\n"
                       "latest: the run never waits; what cannot be held is shown as lost"));
    m_taps->setPlaceholderText(QStringLiteral("all taps; or patterns: model.layers.*.mlp.*"));
    auto* row = new QHBoxLayout;
    row->setSpacing(Look::gap);
    const auto add = [row](const QString& label, QWidget* field, int stretch) {
        auto* name = new QLabel(label);
        name->setBuddy(field);
        row->addWidget(name);
        row->addWidget(field, stretch);
    };
    row->addWidget(m_maxNew);
    m_maxNew->setButtonSymbols(QAbstractSpinBox::NoButtons); // as the other fields
    add(QStringLiteral("T&aps"), m_taps, 1);
    add(QStringLiteral("&Level"), m_level, 0);
    add(QStringLiteral("&Delivery"), m_delivery, 0);
    auto* tokens = new QLabel(QStringLiteral("&New tokens"));
    tokens->setBuddy(m_maxNew);
    form->addRow(tokens, row);
    for (LiveSideForm* side : {m_reference, m_target})
        side->setLabelWidth(tokens->sizeHint().width());
    connect(m_text, &QPlainTextEdit::textChanged, this, &LiveDialog::check);
    for (QLineEdit* edit : {m_promptsFile, m_taps})
        connect(edit, &QLineEdit::textChanged, this, &LiveDialog::check);
    connect(m_maxNew, &QSpinBox::valueChanged, this, &LiveDialog::check);
    connect(m_level, &QComboBox::currentIndexChanged, this, &LiveDialog::check);
    return shared;
}

LivePlan LiveDialog::plan() const
{
    LivePlan plan;
    plan.reference = m_reference->side();
    plan.target = m_target->side();
    plan.text = m_text->toPlainText();
    plan.promptsFile = m_promptsFile->text().trimmed();
    plan.maxNew = m_maxNew->value();
    plan.taps = m_taps->text().trimmed();
    plan.level = m_level->currentText();
    plan.lossless = m_delivery->currentIndex() == losslessPlace;
    return plan;
}

void LiveDialog::check()
{
    if (m_start == nullptr)
        return;
    const LivePlan now = plan();
    const bool files = now.reference.isFile && now.target.isFile;
    const bool fromFile = now.reference.isFile;
    const bool prompted = fromFile || !now.text.isEmpty() || !now.promptsFile.isEmpty();
    m_text->setEnabled(!fromFile && now.promptsFile.isEmpty());
    m_promptsFile->setEnabled(!fromFile);
    m_start->setEnabled(m_reference->isReady() && m_target->isReady() && prompted && !files);
    m_hint->setText(
        files ? QStringLiteral("Two files need no daemon: File › Open lays them over each other.")
        : fromFile ? QStringLiteral("The target scores the samples and tokens of the file.")
        : now.target.isFile
            ? QStringLiteral("The reference runs by itself and is held against the file.")
            : QStringLiteral("The reference runs by itself; the target scores its tokens as they "
                             "come."));
    m_settle.start();
}

void LiveDialog::estimate()
{
    const LivePlan now = plan();
    const auto ask = [this, &now](LiveSideForm* form) {
        form->showEstimate({}, false);
        if (form->side().isFile || !form->isReady() || now.reference.isFile)
            return;
        const auto request = requestOf(now, form->side());
        if (request)
            form->link().askEstimate(*request);
    };
    ask(m_reference);
    ask(m_target);
}

void LiveDialog::showEstimate(LiveSideForm* form, const Result<wire::Estimate>& estimate)
{
    if (estimate)
        form->showEstimate(textOf(*estimate), false);
    else
        form->showEstimate(QString::fromStdString(base::visibleText(estimate.error().text())),
                           true);
}

} // namespace moire::widgets
