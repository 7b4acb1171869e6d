// What takes the place of cuda_table.cc in a build without METACTRL_CUDA.
#include "lookahead/table_device.h"
#include "metactrl/error.h"
#include "metactrl/lookahead.h"

namespace metactrl {

std::shared_ptr<const LookaheadDevice> make_cuda_lookahead_device(int /*number*/) {
  throw InputError("lookahead device cuda", "this program was built without CUDA",
                   "use the CPU, or configure with -DMETACTRL_CUDA=ON where CUDA is installed");
}

}  // namespace metactrl
