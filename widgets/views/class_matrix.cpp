// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/class_matrix.h"

#include "core/numeric/dtype.h"
#include "widgets/views/paint.h"

#include <array>

namespace moire::widgets {

namespace {

constexpr int rowHeight = 18;
constexpr int nameWidth = 52;
constexpr std::array names{"normal", "subn.", "±0", "+Inf", "−Inf", "NaN"};

} // namespace

ClassMatrix::ClassMatrix(const Look& look, QWidget* parent)
    : QWidget(parent)
    , m_look(look)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(QStringLiteral("Value classes"));
    connect(&look, &Look::changed, this, qOverload<>(&QWidget::update));
}

QSize ClassMatrix::sizeHint() const
{
    return {240, rowHeight * (static_cast<int>(names.size()) + 1) + Look::gap};
}

void ClassMatrix::setMatrix(std::vector<std::vector<std::uint64_t>> matrix)
{
    m_matrix = std::move(matrix);
    update();
}

bool ClassMatrix::isTelling() const
{
    const auto ordinary = [](std::size_t i) {
        return i == static_cast<std::size_t>(numeric::ValueClass::Normal)
               || i == static_cast<std::size_t>(numeric::ValueClass::Zero);
    };
    for (std::size_t r = 0; r < m_matrix.size(); ++r)
        for (std::size_t t = 0; t < m_matrix[r].size(); ++t)
            if (m_matrix[r][t] > 0 && (r != t || !ordinary(r)))
                return true;
    return false;
}

void ClassMatrix::paintEvent(QPaintEvent*)
{
    if (m_matrix.size() != names.size())
        return;
    QPainter painter(this);
    const Theme& theme = m_look.theme();
    const QFont font = m_look.font(TextRole::Small);
    const int left = Look::inset + nameWidth;
    const int columns = static_cast<int>(names.size());
    const int wide = (width() - Look::inset - left) / columns;
    for (int i = 0; i < columns; ++i) {
        const QString name = QString::fromUtf8(names[static_cast<std::size_t>(i)]);
        paint::text(painter, QRect(left + i * wide, 0, wide - 2, rowHeight),
                    Qt::AlignRight | Qt::AlignVCenter, name, font, theme.target);
        paint::text(painter, QRect(Look::inset, (i + 1) * rowHeight, nameWidth, rowHeight),
                    Qt::AlignLeft | Qt::AlignVCenter, name, font, theme.reference);
        for (int j = 0; j < columns; ++j) {
            const std::uint64_t count =
                m_matrix[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
            const QRect box(left + j * wide, (i + 1) * rowHeight, wide, rowHeight);
            if (count > 0 && i != j)
                painter.fillRect(box.adjusted(2, 1, 0, -1), theme.differGround);
            const QColor ink = count == 0 ? theme.faint : i == j ? theme.ink : theme.differInk;
            paint::text(painter, box.adjusted(0, 0, -2, 0), Qt::AlignRight | Qt::AlignVCenter,
                        count == 0 ? QStringLiteral("·") : QString::number(count),
                        m_look.font(TextRole::MonoSmall), ink);
        }
    }
}

} // namespace moire::widgets
