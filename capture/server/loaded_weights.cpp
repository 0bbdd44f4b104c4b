// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/server/loaded_weights.h"

#include <utility>

namespace moire::capture {

Result<std::shared_ptr<const Model>> LoadedWeights::get(std::shared_ptr<const ShelvedModel> model,
                                                        const RunOptions& options)
{
    const bool sameModel =
        m_weights && m_model->path == model->path && m_model->signature == model->signature;
    if (sameModel) {
        const auto fits = isLoadedFor(*m_weights, options);
        if (!fits)
            return fits.error();
        if (*fits)
            return m_weights;
    }
    release();
    auto weights = loadModel(model->checkpoint, options);
    if (!weights)
        return weights.error();
    m_model = std::move(model);
    m_weights = *weights;
    return m_weights;
}

void LoadedWeights::release()
{
    m_weights.reset();
    m_model.reset();
}

} // namespace moire::capture
