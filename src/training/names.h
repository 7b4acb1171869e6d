// The words for choices of training, as they are written on the command line and in files.
#ifndef METACTRL_SRC_TRAINING_NAMES_H_
#define METACTRL_SRC_TRAINING_NAMES_H_

#include "metactrl/training/corpus.h"
#include "metactrl/training/train.h"
#include "support/enum_names.h"

namespace metactrl {

constexpr auto enum_names(CorpusLevel) {
  return internal::names<CorpusLevel>({{CorpusLevel::kMeta, "meta"}, {CorpusLevel::kToken, "token"}});
}

constexpr auto enum_names(GpuPrecision) {
  return internal::names<GpuPrecision>(
      {{GpuPrecision::kSingle, "single"}, {GpuPrecision::kTf32, "tf32"}, {GpuPrecision::kDouble, "double"}});
}

}  // namespace metactrl

#endif  // METACTRL_SRC_TRAINING_NAMES_H_
