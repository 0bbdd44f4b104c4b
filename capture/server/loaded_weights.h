// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/engine/runner.h"
#include "capture/server/model_shelf.h"
#include "core/base/result.h"

#include <memory>

namespace moire::capture {

/// The weights of the run before, kept for the next one when that needs the same. One thread.
class LoadedWeights
{
public:
    /// Weights as these options want them; those of another model, or prepared otherwise, go
    /// before the new ones are loaded. Errors: those of loadModel().
    Result<std::shared_ptr<const Model>> get(std::shared_ptr<const ShelvedModel> model,
                                             const RunOptions& options);
    void release();
    bool isEmpty() const { return m_weights == nullptr; }

private:
    std::shared_ptr<const ShelvedModel> m_model;
    std::shared_ptr<const Model> m_weights;
};

} // namespace moire::capture
