// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/element_table.h"

#include "widgets/views/paint.h"

#include <QHeaderView>

#include <algorithm>
#include <numeric>

namespace moire::widgets {

namespace {

constexpr int elementHeight = 20;
constexpr int cellMargin = 14; // what the style leaves beside an item's text, both sides together

} // namespace

ElementTable::ElementTable(const Look& look, QWidget* parent)
    : QTableView(parent)
    , m_look(look)
{
    setModel(&m_model);
    setAccessibleName(QStringLiteral("Worst elements"));
    setShowGrid(false);
    setTextElideMode(Qt::ElideNone);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    verticalHeader()->hide();
    verticalHeader()->setMinimumSectionSize(elementHeight);
    verticalHeader()->setDefaultSectionSize(elementHeight);
    horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    horizontalHeader()->setMinimumSectionSize(1);
    horizontalHeader()->setDefaultAlignment(Qt::AlignRight | Qt::AlignVCenter);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setTabKeyNavigation(false);
    connect(&look, &Look::changed, this, &ElementTable::arrange);
}

void ElementTable::setElements(std::vector<diff::ElementPair> elements,
                               numeric::DType referenceType, numeric::DType targetType)
{
    m_model.setElements(std::move(elements), referenceType, targetType);
    arrange();
    setFixedHeight(horizontalHeader()->sizeHint().height() + rows() * elementHeight + Look::step);
}

void ElementTable::resizeEvent(QResizeEvent* event)
{
    QTableView::resizeEvent(event);
    arrange();
}

std::vector<int> ElementTable::widthsWith(int pixels) const
{
    QFont font = m_look.font(TextRole::MonoSmall);
    QFont head = m_look.font(TextRole::Small);
    font.setPixelSize(pixels);
    head.setPixelSize(std::min(pixels, head.pixelSize()));
    std::vector<int> widths;
    for (int column = 0; column < m_model.columnCount(); ++column) {
        int width = paint::widthOf(
            head, m_model.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString());
        for (int row = 0; row < m_model.rowCount(); ++row)
            width =
                std::max(width, paint::widthOf(font, m_model.index(row, column).data().toString()));
        widths.push_back(width + cellMargin);
    }
    return widths;
}

void ElementTable::arrange()
{
    int pixels = m_look.font(TextRole::MonoSmall).pixelSize();
    std::vector<int> widths = widthsWith(pixels);
    const auto total = [&widths] { return std::accumulate(widths.begin(), widths.end(), 0); };
    const int room = viewport()->width() - Look::step; // clear of the panel's edge
    while (total() > room && pixels > paint::smallestPixels)
        widths = widthsWith(--pixels);
    QFont font = m_look.font(TextRole::MonoSmall);
    QFont head = m_look.font(TextRole::Small);
    font.setPixelSize(pixels);
    head.setPixelSize(std::min(pixels, head.pixelSize()));
    setFont(font);
    horizontalHeader()->setFont(head);
    const int spare = std::max(0, room - total()) / static_cast<int>(widths.size());
    for (std::size_t column = 0; column < widths.size(); ++column)
        setColumnWidth(static_cast<int>(column), widths[column] + spare);
}

} // namespace moire::widgets
