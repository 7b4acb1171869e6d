// Formats of one's own (docs/formats.md) as part of a request: the text of a declaration, or an object with its keys.
//
//     {"item": "{action}({arguments})", "separator": "; ", "close": "."}
//     {"item": {"*": "{action} {1}", "putin": "put {1} into {2}"}, "object": {"soap_1002": "soap"}, ...}
//
// Nothing is read from a file. What a format may cost is bounded twice: the declaration when it is read, and what it makes
// of the actions of a task before that is made.
#ifndef METACTRL_SRC_SERVE_OWN_FORMAT_H_
#define METACTRL_SRC_SERVE_OWN_FORMAT_H_

#include <cstddef>
#include <string>

#include "metactrl/format.h"
#include "metactrl/task.h"
#include "serve/fields.h"

namespace metactrl::serve {

// Of a declaration; the number of separators that it may have.
constexpr std::size_t kMaxFormatBytes = std::size_t{16} << 10;
constexpr std::size_t kMaxSeparators = 8;

// The member "format": a built-in one if it is absent. `own`: it is none of those that ship.
PlanFormat read_format(Fields& fields, bool& own);

// Throws ApiError when the texts of the task's actions might take more than a part of `bytes`.
void check_format_size(const PlanFormat& format, const Task& task, std::size_t bytes);

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_OWN_FORMAT_H_
