// Arbitrary bytes as a journal: it is read up to its last whole line, or refused as damaged. What was read can be gone on
// with, and be written anew as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "jobs/journal.h"
#include "memory_file.h"
#include "metactrl/error.h"

namespace {

using metactrl::jobs::JournalContent;
using metactrl::jobs::JournalFile;
using metactrl::jobs::Json;

void require(bool holds) {
  if (!holds) std::abort();
}

void expect_refusal(const std::string& path, const Json& settings) {
  try {
    const JournalFile journal(path, settings, JournalFile::Begin::kGoOn, "a hint");
  } catch (const metactrl::InputError&) {
    return;
  }
  std::abort();
}

void go_on(const std::string& path, const JournalContent& content) {
  Json other = content.settings;
  other["fuzz"] = "other settings";
  require(!metactrl::jobs::settings_difference(content.settings, other).empty() == (content.settings != other));
  if (content.settings != other) expect_refusal(path, other);
  {
    JournalFile journal(path, content.settings, JournalFile::Begin::kGoOn, "a hint");
    require(journal.file() == path && journal.earlier() == content.lines);
    expect_refusal(path, content.settings);  // while it is written
    journal.add(Json::object({{"fuzz", 1}}));
  }
  const auto longer = metactrl::jobs::read_journal(path);
  require(longer && longer->settings == content.settings && longer->lines.size() == content.lines.size() + 1);
}

void write_anew(const JournalContent& content) {
  const MemoryName name;
  JournalFile journal(name.path(), content.settings, JournalFile::Begin::kAnew, "a hint");
  for (const Json& line : content.lines) journal.add(line);
  const auto again = metactrl::jobs::read_journal(name.path());
  require(again && again->settings == content.settings && again->lines == content.lines);
  journal.remove();
  require(!metactrl::jobs::read_journal(name.path()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file(data, size);
  try {
    const auto content = metactrl::jobs::read_journal(file.path());
    if (!content) return 0;
    require(content->bytes <= size && (content->bytes == 0 || data[content->bytes - 1] == '\n'));
    metactrl::jobs::settings_difference(content->settings, content->lines.empty() ? Json::array() : content->lines[0]);
    go_on(file.path(), *content);
    write_anew(*content);
  } catch (const metactrl::InputError& error) {
    require(error.diagnostics().has_errors());
  }
  return 0;
}
