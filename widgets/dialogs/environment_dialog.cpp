// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/dialogs/environment_dialog.h"

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>

namespace moire::widgets {

namespace {

/// Marks the two values of a field that differs.
class DifferenceDelegate : public QStyledItemDelegate
{
public:
    DifferenceDelegate(const Look& look, QObject* parent)
        : QStyledItemDelegate(parent)
        , m_look(look)
    {}

    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override
    {
        QStyledItemDelegate::initStyleOption(option, index);
        option->textElideMode = Qt::ElideMiddle;
        option->font = m_look.font(index.column() == EnvironmentModel::Field ? TextRole::Small
                                                                             : TextRole::MonoSmall);
        const bool differs = index.data(EnvironmentModel::DiffersRole).toBool();
        const Theme& theme = m_look.theme();
        if (index.column() == EnvironmentModel::Field)
            option->palette.setColor(QPalette::Text, differs ? theme.ink : theme.dim);
        else if (differs)
            option->palette.setColor(QPalette::Text, theme.differInk);
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override
    {
        if (index.column() != EnvironmentModel::Field
            && index.data(EnvironmentModel::DiffersRole).toBool())
            painter->fillRect(option.rect.adjusted(0, 1, -1, -1), m_look.theme().differGround);
        QStyledItemDelegate::paint(painter, option, index);
    }

private:
    const Look& m_look;
};

} // namespace

EnvironmentDialog::EnvironmentDialog(const Look& look, const diff::Report& report, QWidget* parent)
    : QDialog(parent)
{
    setWindowTitle(QStringLiteral("Environment of both runs"));
    constexpr QSize size(760, 560);
    resize(size);
    m_model.setReport(report);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 16, 16, 16);
    layout->setSpacing(Look::inset);
    auto* only = new QCheckBox(QStringLiteral("Differences only"));
    layout->addWidget(only);
    auto* table = new QTableView;
    table->setModel(&m_model);
    table->setItemDelegate(new DifferenceDelegate(look, table));
    table->setShowGrid(false);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->verticalHeader()->hide();
    constexpr int rowHeight = 24;
    table->verticalHeader()->setDefaultSectionSize(rowHeight);
    table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    table->setAccessibleName(windowTitle());
    layout->addWidget(table, 1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    layout->addWidget(buttons);
    connect(only, &QCheckBox::toggled, &m_model, &EnvironmentModel::setDifferencesOnly);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

} // namespace moire::widgets
