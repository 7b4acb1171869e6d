// Errors, texts and stops. An exception becomes an error here and nowhere else; where not even the error can be allocated,
// a constant one says that memory has ended.
#include <chrono>
#include <cmath>
#include <new>

#include "c/handles.h"
#include "c/json.h"

namespace metactrl::c {

namespace {

// Not allocated, so it is there when nothing else is; `metactrl_error_free` leaves it alone.
metactrl_error& out_of_memory() {
  static metactrl_error error;
  return error;
}

metactrl_status status_of(const Stopped& stopped) {
  return stopped.reason() == Stopped::kCancelled ? METACTRL_ERROR_STOPPED : METACTRL_ERROR_LIMIT;
}

metactrl_status give(metactrl_error** error, metactrl_status status, const char* message,
                     const Diagnostics* diagnostics = nullptr) noexcept {
  if (error == nullptr) return status;
  try {
    auto made = std::make_unique<metactrl_error>();
    made->status = status;
    made->message = message;
    if (diagnostics != nullptr) made->details = diagnostics_json(*diagnostics);
    *error = made.release();
  } catch (...) {
    *error = &out_of_memory();
  }
  return status;
}

std::int64_t steady_nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

bool StopState::now() const {
  if (requested.load(std::memory_order_relaxed)) return true;
  const std::int64_t end = deadline.load(std::memory_order_relaxed);
  return end != INT64_MAX && steady_nanoseconds() >= end;
}

metactrl_status report(metactrl_error** error) noexcept {
  try {
    throw;
  } catch (const ArgumentError& caught) {
    return give(error, METACTRL_ERROR_ARGUMENT, caught.what());
  } catch (const BusyError& caught) {
    return give(error, METACTRL_ERROR_BUSY, caught.what());
  } catch (const CallbackError& caught) {
    return give(error, METACTRL_ERROR_CALLBACK, caught.what());
  } catch (const InputError& caught) {
    return give(error, METACTRL_ERROR_INPUT, caught.what(), &caught.diagnostics());
  } catch (const Stopped& caught) {
    return give(error, status_of(caught), caught.what());
  } catch (const std::bad_alloc&) {
    return give(error, METACTRL_ERROR_MEMORY, "there is not enough memory");
  } catch (const std::length_error&) {
    return give(error, METACTRL_ERROR_MEMORY, "there is not enough memory");
  } catch (const std::exception& caught) {
    return give(error, METACTRL_ERROR_INTERNAL, caught.what());
  } catch (...) {
    return give(error, METACTRL_ERROR_INTERNAL, "an exception of an unknown kind");
  }
}

Stop stop_of(metactrl_stop* stop) {
  if (stop == nullptr) return {};
  return [state = live(stop, "stop").state] { return state->now(); };
}

metactrl_text* make_text(std::string text) {
  auto made = std::make_unique<metactrl_text>();
  made->text = std::move(text);
  return made.release();
}

}  // namespace metactrl::c

using metactrl::c::guarded;

uint32_t metactrl_abi_version(void) { return METACTRL_ABI_VERSION; }
const char* metactrl_version(void) { return METACTRL_VERSION; }

metactrl_status metactrl_error_status(const metactrl_error* error) {
  if (error == nullptr) return METACTRL_OK;
  if (error == &metactrl::c::out_of_memory()) return METACTRL_ERROR_MEMORY;
  return error->is_live() ? error->status : METACTRL_ERROR_ARGUMENT;
}

const char* metactrl_error_message(const metactrl_error* error) {
  if (error == &metactrl::c::out_of_memory()) return "there is not enough memory";
  return error == nullptr || !error->is_live() ? "" : error->message.c_str();
}

const char* metactrl_error_details(const metactrl_error* error) {
  return error == nullptr || !error->is_live() ? "[]" : error->details.c_str();
}

void metactrl_error_free(metactrl_error* error) {
  if (error != nullptr && error->is_live() && error != &metactrl::c::out_of_memory()) delete error;
}

const char* metactrl_text_data(const metactrl_text* text) {
  return text == nullptr || !text->is_live() ? "" : text->text.c_str();
}

size_t metactrl_text_size(const metactrl_text* text) {
  return text == nullptr || !text->is_live() ? 0 : text->text.size();
}

void metactrl_text_free(metactrl_text* text) {
  if (text != nullptr && text->is_live()) delete text;
}

metactrl_status metactrl_stop_new(metactrl_stop** out, metactrl_error** error) {
  return guarded(error, [&] { metactrl::c::required(out, "out") = std::make_unique<metactrl_stop>().release(); });
}

void metactrl_stop_request(metactrl_stop* stop) {
  if (stop != nullptr && stop->is_live()) stop->state->requested.store(true, std::memory_order_relaxed);
}

metactrl_status metactrl_stop_after(metactrl_stop* stop, double seconds, metactrl_error** error) {
  return guarded(error, [&] {
    metactrl_stop& live = metactrl::c::live(stop, "stop");
    if (!(seconds >= 0)) throw metactrl::c::ArgumentError("seconds must be a number that is not negative");
    // Longer than a century is forever.
    const double most = 3.2e9;
    live.state->deadline.store(
        seconds > most ? INT64_MAX : metactrl::c::steady_nanoseconds() + static_cast<std::int64_t>(seconds * 1e9),
        std::memory_order_relaxed);
  });
}

int32_t metactrl_stop_requested(const metactrl_stop* stop) {
  return stop != nullptr && stop->is_live() && stop->state->now() ? 1 : 0;
}

void metactrl_stop_free(metactrl_stop* stop) {
  if (stop != nullptr && stop->is_live()) delete stop;
}
