// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/sample_list.h"

#include "widgets/views/sample_delegate.h"

#include <QItemSelectionModel>
#include <QListView>
#include <QVBoxLayout>

namespace moire::widgets {

SampleList::SampleList(const Look& look, Cursor& cursor, QWidget* parent)
    : QWidget(parent)
    , m_cursor(cursor)
    , m_view(new QListView(this))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_view);
    m_view->setModel(&m_model);
    m_view->setItemDelegate(new SampleDelegate(look, m_view));
    m_view->setMouseTracking(true);
    m_view->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_view->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_view->setAccessibleName(QStringLiteral("Samples"));
    setFocusProxy(m_view);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentChanged, this,
            [this](const QModelIndex& current) {
                if (current.isValid())
                    m_cursor.moveSample(current.data(SampleModel::SampleRole).toULongLong());
            });
    connect(&cursor, &Cursor::moved, this, &SampleList::follow);
    connect(&m_model, &QAbstractItemModel::modelReset, this, &SampleList::follow);
    connect(&look, &Look::changed, m_view->viewport(), qOverload<>(&QWidget::update));
}

void SampleList::setCompared()
{
    m_compared = m_cursor.compared();
    static_cast<SampleDelegate*>(m_view->itemDelegate())->setCompared(m_compared);
    m_model.setCompared(m_compared);
}

void SampleList::follow()
{
    if (m_compared != m_cursor.compared())
        setCompared();
    const QModelIndex index = m_model.indexOfSample(m_cursor.place().sample);
    if (index.isValid() && index != m_view->currentIndex())
        m_view->setCurrentIndex(index);
}

} // namespace moire::widgets
