// What stands behind the handles of metactrl/c.h, and how calls become statuses.
#ifndef METACTRL_SRC_C_HANDLES_H_
#define METACTRL_SRC_C_HANDLES_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metactrl/c.h"
#include "metactrl/constraint.h"
#include "metactrl/decoder.h"
#include "metactrl/error.h"
#include "metactrl/format.h"
#include "metactrl/hmm.h"
#include "metactrl/task.h"
#include "metactrl/vocabulary.h"
#include "support/str_cat.h"

namespace metactrl::c {

// Every handle begins with the number of its kind, so that one of another kind is noticed, and with none when it is freed.
enum class Kind : std::uint32_t {
  kNone = 0,
  kTask = 0x4d430001,
  kFormat = 0x4d430002,
  kVocabulary = 0x4d430003,
  kConstraint = 0x4d430004,
  kDecoder = 0x4d430005,
  kPool = 0x4d430006,
  kStop = 0x4d430007,
  kText = 0x4d430008,
  kError = 0x4d430009,
  kHmm = 0x4d43000a,
};

template <Kind kKind>
struct Handle {
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { kind = Kind::kNone; }
  bool is_live() const { return kind == kKind; }

  // Written when the handle is freed, and read by whoever uses it after that: kept by the compiler.
  volatile Kind kind = kKind;
};

// The call is wrong, not what it is about.
class ArgumentError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};
class BusyError : public std::runtime_error {
 public:
  BusyError() : std::runtime_error("the decoder is in use by another thread") {}
};
class CallbackError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What a metactrl_stop shares with the computations that it can end.
struct StopState {
  std::atomic<bool> requested{false};
  std::atomic<std::int64_t> deadline{INT64_MAX};  // nanoseconds of the steady clock
  bool now() const;
};

// --- from exceptions to statuses -------------------------------------------------------------------------------------

// Of the exception that is being handled, with the error for the caller where it wants one.
metactrl_status report(metactrl_error** error) noexcept;

template <typename Work>
metactrl_status guarded(metactrl_error** error, const Work& work) noexcept {
  if (error != nullptr) *error = nullptr;
  try {
    work();
    return METACTRL_OK;
  } catch (...) {
    return report(error);
  }
}

// --- arguments -------------------------------------------------------------------------------------------------------

template <typename T>
T& required(T* pointer, const char* name) {
  if (pointer == nullptr) throw ArgumentError(internal::str_cat(name, " is NULL"));
  return *pointer;
}

template <typename T>
T& live(T* handle, const char* name) {
  if (!required(handle, name).is_live()) {
    throw ArgumentError(internal::str_cat(name, " is no such handle, or was freed"));
  }
  return *handle;
}

inline std::string_view text_argument(const char* data, std::size_t size, const char* name) {
  if (data == nullptr && size > 0) throw ArgumentError(internal::str_cat(name, " is NULL, but its size is ", size));
  if (size > PTRDIFF_MAX) throw ArgumentError(internal::str_cat("the size of ", name, " cannot be: ", size));
  return size == 0 ? std::string_view() : std::string_view(data, size);
}

template <typename T>
void check_array(const T* data, std::size_t size, const char* name) {
  if (data == nullptr && size > 0) throw ArgumentError(internal::str_cat(name, " is NULL, but its size is ", size));
  if (size > PTRDIFF_MAX / sizeof(T))
    throw ArgumentError(internal::str_cat("the size of ", name, " cannot be: ", size));
}

// The caller's options over `defaults`, as many bytes as the caller's header knew. What a newer header has must be zero.
template <typename T>
T read_options(const T* given, T defaults) {
  if (given == nullptr) return defaults;
  std::size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  constexpr std::size_t kLargest = 4096;
  if (size < sizeof size || size > kLargest) {
    throw ArgumentError(
        internal::str_cat("options say that they have ", size, " bytes; begin with their _default function"));
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t i = sizeof(T); i < size; ++i) {
    if (bytes[i] != 0) throw ArgumentError("options have what only a newer version of the library knows");
  }
  std::memcpy(static_cast<void*>(&defaults), given, std::min(size, sizeof(T)));
  defaults.struct_size = sizeof(T);
  return defaults;
}

// The defaults, as many bytes as the caller's header knew.
template <typename T>
void write_options(T defaults, T* options, std::size_t size) {
  if (options == nullptr) return;
  defaults.struct_size = size;
  std::memcpy(static_cast<void*>(options), &defaults, size);
}

Stop stop_of(metactrl_stop* stop);
// The model of an option; none where it is NULL. Throws InputError for one of the other level.
std::optional<Hmm> hmm_of(const metactrl_hmm* hmm, bool of_plans, const char* name);

// --- results ---------------------------------------------------------------------------------------------------------

metactrl_text* make_text(std::string text);

// As many as fit; all are counted.
template <typename Id>
void write_ids(const std::vector<Id>& from, std::int32_t* ids, std::size_t capacity, std::size_t& count) {
  for (std::size_t i = 0; i < from.size() && i < capacity; ++i) ids[i] = static_cast<std::int32_t>(from[i]);
  count = from.size();
}

}  // namespace metactrl::c

// Named by the C interface. NOLINTBEGIN(readability-identifier-naming)

struct metactrl_error : metactrl::c::Handle<metactrl::c::Kind::kError> {
  metactrl_status status = METACTRL_ERROR_INTERNAL;
  std::string message;
  std::string details = "[]";
};

struct metactrl_text : metactrl::c::Handle<metactrl::c::Kind::kText> {
  std::string text;
};

struct metactrl_stop : metactrl::c::Handle<metactrl::c::Kind::kStop> {
  std::shared_ptr<metactrl::c::StopState> state = std::make_shared<metactrl::c::StopState>();
};

struct metactrl_task : metactrl::c::Handle<metactrl::c::Kind::kTask> {
  metactrl_task(metactrl::Task given, metactrl::Diagnostics found)
      : task(std::move(given)), warnings(std::move(found)) {}
  const metactrl::Task task;
  const metactrl::Diagnostics warnings;
};

struct metactrl_format : metactrl::c::Handle<metactrl::c::Kind::kFormat> {
  explicit metactrl_format(metactrl::PlanFormat given) : format(std::move(given)) {}
  const metactrl::PlanFormat format;
};

struct metactrl_vocabulary : metactrl::c::Handle<metactrl::c::Kind::kVocabulary> {
  std::shared_ptr<const metactrl::Vocabulary> vocabulary;
};

struct metactrl_hmm : metactrl::c::Handle<metactrl::c::Kind::kHmm> {
  explicit metactrl_hmm(metactrl::Hmm given) : hmm(std::move(given)) {}
  const metactrl::Hmm hmm;
};

struct metactrl_constraint : metactrl::c::Handle<metactrl::c::Kind::kConstraint> {
  std::shared_ptr<const metactrl::Constraint> constraint;
  std::string context;
  metactrl::Tokenization tokenization = metactrl::Tokenization::kCanonical;
  std::size_t max_tokens = 0;
  // Where the task has preferences: those that hold at the end like goals, and what the metric is at least.
  std::optional<std::vector<std::size_t>> promised;
  double lower_bound = 0;
  std::vector<std::string> dropped;  // goals that it does not hold to
};

struct metactrl_decoder : metactrl::c::Handle<metactrl::c::Kind::kDecoder> {
  explicit metactrl_decoder(metactrl::Decoder given, bool is_lost = false) : decoder(std::move(given)), lost(is_lost) {}
  metactrl::Decoder decoder;
  bool lost;  // it was told to be where nothing can be
  std::vector<double> scores;
  std::atomic<bool> busy{false};
};

// NOLINTEND(readability-identifier-naming)

namespace metactrl::c {

// A decoder for the time of one call. Throws BusyError when somebody else has it.
class Held {
 public:
  explicit Held(metactrl_decoder* decoder) : decoder_(live(decoder, "decoder")) {
    if (decoder_.busy.exchange(true, std::memory_order_acquire)) throw BusyError();
  }
  ~Held() { decoder_.busy.store(false, std::memory_order_release); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  metactrl_decoder* operator->() const { return &decoder_; }
  metactrl_decoder& operator*() const { return decoder_; }

 private:
  metactrl_decoder& decoder_;
};

// What may come; nothing where the decoder is lost.
std::span<const NextToken> next_of(metactrl_decoder& decoder);
// Tokens taken; stops at the first that is not allowed.
std::size_t accept_all(metactrl_decoder& decoder, std::span<const std::int32_t> ids);
// Keeps the first `keep` tokens and takes these; returns behind how many it is then. Lost where that is not all of them.
std::size_t go_on(metactrl_decoder& decoder, std::size_t keep, std::span<const std::int32_t> ids);
// See metactrl_decoder_seek.
std::size_t seek(metactrl_decoder& decoder, std::span<const std::int32_t> ids);
void fill_bitmask(std::span<const NextToken> choices, std::span<std::int32_t> words);
void fill_bias(std::span<const NextToken> choices, std::span<float> row);
// Rows that are too short are the caller's mistake.
void check_bitmask_size(std::size_t words, const metactrl_decoder& decoder);
void check_row_size(std::size_t size, const metactrl_decoder& decoder);

}  // namespace metactrl::c

#endif  // METACTRL_SRC_C_HANDLES_H_
