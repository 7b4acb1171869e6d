// The journal's lock is on the file itself, and the system gives it back however the process ends. What a killed
// process left of a line is cut off before anything is appended, so that a file is whole lines at all times but for its
// end.
#include "jobs/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "metactrl/error.h"
#include "support/file_lock.h"
#include "support/files.h"
#include "support/str_cat.h"

namespace metactrl::jobs {

using internal::str_cat;

namespace {

[[noreturn]] void fail(const std::string& file, int error) {
  const char* fix = "name a file that can be written";
  if (error == ENOENT || error == ENOTDIR) fix = "make its folder first, or name another place";
  if (error == EACCES || error == EPERM || error == EROFS) fix = "name a place where you may write";
  if (error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO) {
    fix = "make room and run again: what is done is kept";
  }
  throw InputError(file, str_cat("cannot be written: ", std::generic_category().message(error)), fix);
}

[[noreturn]] void fail_at(const std::string& file, std::size_t line) {
  Diagnostics diagnostics;
  diagnostics.error({file, static_cast<std::uint32_t>(line), 0},
                    line == 1 ? "is not what a run leaves" : "is damaged: it is no JSON",
                    line == 1 ? "move the file away, or name another place"
                              : "remove this line, and what it said is done again; or name another place");
  throw InputError(std::move(diagnostics));
}

std::string shown(const Json& value) {
  if (value.is_null()) return "nothing";
  return value.is_string() ? str_cat("'", value.get<std::string>(), "'") : dump(value, -1);
}

Json value_of(const Json& json, const std::string& key) { return json.contains(key) ? json[key] : Json(); }

}  // namespace

std::string dump(const Json& json, int indent) { return json.dump(indent, ' ', false, Json::error_handler_t::replace); }

std::optional<JournalContent> read_journal(const std::string& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return std::nullopt;
  const std::string text = internal::read_file(file);
  JournalContent content;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', content.bytes)) {
    Json line = Json::parse(text.substr(content.bytes, end - content.bytes), nullptr, false);
    if (!line.is_object()) fail_at(file, content.bytes == 0 ? 1 : content.lines.size() + 2);
    if (content.bytes == 0) {
      content.settings = std::move(line);
    } else {
      content.lines.push_back(std::move(line));
    }
    content.bytes = end + 1;
  }
  if (content.bytes > 0) return content;
  if (!text.empty() && text[0] != '{') fail_at(file, 1);
  return std::nullopt;
}

std::string settings_difference(const Json& earlier, const Json& now) {
  if (!earlier.is_object() || !now.is_object()) return earlier == now ? "" : "the settings are of another kind";
  std::string out;
  const auto add = [&](const std::string& key) {
    const Json was = value_of(earlier, key);
    const Json is = value_of(now, key);
    if (was != is) out += str_cat(out.empty() ? "" : "; ", key, " was ", shown(was), " and is ", shown(is));
  };
  for (const auto& [key, value] : now.items()) add(key);
  for (const auto& [key, value] : earlier.items()) {
    if (!now.contains(key)) add(key);
  }
  return out;
}

void check_settings(const std::string& file, const Json& earlier, const Json& now, const std::string& hint) {
  const std::string difference = settings_difference(earlier, now);
  if (!difference.empty()) throw InputError(file, str_cat("was begun with other settings: ", difference), hint);
}

JournalFile::JournalFile(std::string file, const Json& settings, Begin begin, const std::string& hint)
    : file_(std::move(file)), descriptor_(::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) fail(file_, errno);
  try {
    if (!internal::try_lock(descriptor_)) {
      throw InputError(file_, "is being written by another run", "wait for it, or name another place");
    }
    std::optional<JournalContent> content;
    if (begin == Begin::kGoOn) content = read_journal(file_);
    if (content) {
      check_settings(file_, content->settings, settings, hint);
      earlier_ = std::move(content->lines);
    }
    if (::ftruncate(descriptor_, static_cast<off_t>(content ? content->bytes : 0)) != 0) fail(file_, errno);
    if (!content) write(dump(settings, -1) + "\n");
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

JournalFile::~JournalFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void JournalFile::write(const std::string& text) {
  if (const int error = internal::write_all(descriptor_, text); error != 0) fail(file_, error);
}

void JournalFile::add(const Json& line) { write(dump(line, -1) + "\n"); }

void JournalFile::remove() {
  ::unlink(file_.c_str());
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

}  // namespace metactrl::jobs
