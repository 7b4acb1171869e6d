// The file of a corpus.
//
//     "mctrlcor"  version u32
//     length u32, header, its hash u64
//     then per record: length u32, record, its hash u64
//
// little-endian; numbers in records take seven bits per byte, the last byte without its highest bit. A hash covers the
// length, too. When the file ends inside a record, that record was never finished and does not count; a hash that does
// not fit is damage. A damaged length can seem to reach behind the end of the file, too: so where it does, and whole
// records follow nevertheless, the file is damaged and not cut off.
#include "metactrl/training/corpus.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "hmm/hmm_data.h"
#include "metactrl/error.h"
#include "support/bytes.h"
#include "support/files.h"
#include "support/hash.h"
#include "support/str_cat.h"
#include "training/names.h"

namespace metactrl {

using internal::ByteReader;
using internal::ByteWriter;
using internal::str_cat;

namespace {

constexpr std::string_view kCorpusMagic = "mctrlcor";
constexpr std::uint32_t kCorpusVersion = 1;
constexpr const char* kCorpusHint = "copy it again, or sample it anew";

// --- numbers and alphabets -------------------------------------------------------------------------------------------

void write_number(ByteWriter& out, std::uint64_t value) {
  while (value >= 0x80U) {
    out.number(static_cast<std::uint8_t>(value | 0x80U));
    value >>= 7U;
  }
  out.number(static_cast<std::uint8_t>(value));
}

std::uint64_t read_number(ByteReader& in, const std::string& file) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const auto byte = in.number<std::uint8_t>();
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
    if ((byte & 0x80U) == 0) return value;
  }
  throw InputError(file, "holds a number that is too long: it is damaged", kCorpusHint);
}

void write_alphabet(ByteWriter& out, const Alphabet& alphabet) {
  for (const std::uint64_t number :
       {std::uint64_t{alphabet.size}, std::uint64_t{static_cast<std::uint32_t>(alphabet.end)},
        std::uint64_t{alphabet.num_actions}, std::uint64_t{alphabet.num_slots}, alphabet.vocabulary,
        std::uint64_t{alphabet.names.size()}}) {
    write_number(out, number);
  }
  for (const std::string& name : alphabet.names) out.text(name);
}

Alphabet read_alphabet(ByteReader& in, const std::string& file) {
  Alphabet alphabet;
  alphabet.size = read_number(in, file);
  alphabet.end = SymbolId{static_cast<std::uint32_t>(read_number(in, file))};
  alphabet.num_actions = read_number(in, file);
  alphabet.num_slots = read_number(in, file);
  alphabet.vocabulary = read_number(in, file);
  const std::uint64_t names = read_number(in, file);
  for (std::uint64_t i = 0; i < names; ++i) alphabet.names.push_back(in.text());
  if (!is_consistent(alphabet)) {
    throw InputError(file, "has an alphabet whose sizes do not go together: it is damaged", kCorpusHint);
  }
  return alphabet;
}

// --- blocks: length, content, hash -----------------------------------------------------------------------------------

std::string block(const ByteWriter& content) {
  ByteWriter out;
  out.text(content.written());
  out.number(internal::hash_bytes(out.written()));
  return out.take();
}

// Of the block at `at`, without its length and its hash.
struct Extent {
  std::size_t covered = 0;  // by the hash
  bool fits = false;        // the file is long enough
};

Extent extent_at(std::string_view bytes, std::size_t at) {
  std::uint32_t length = 0;
  if (bytes.size() - at < sizeof(length)) return {};
  std::memcpy(&length, bytes.data() + at, sizeof(length));
  const std::size_t covered = sizeof(length) + length;
  return {covered, bytes.size() - at >= covered + sizeof(std::uint64_t)};
}

bool hash_fits(std::string_view bytes, std::size_t at, std::size_t covered) {
  std::uint64_t hash = 0;
  std::memcpy(&hash, bytes.data() + at + covered, sizeof(hash));
  return internal::hash_bytes(bytes.substr(at, covered)) == hash;
}

[[noreturn]] void fail_damaged(std::size_t at, const char* why, const std::string& file) {
  throw InputError(file, str_cat("is damaged at byte ", at, ": ", why), kCorpusHint);
}

// The content; nothing when the file ends first. Throws InputError when the hash does not fit.
std::optional<std::string_view> next_block(std::string_view bytes, std::size_t& at, const std::string& file) {
  const Extent extent = extent_at(bytes, at);
  if (!extent.fits) return std::nullopt;
  if (!hash_fits(bytes, at, extent.covered)) fail_damaged(at, "a checksum does not fit", file);
  const std::string_view content = bytes.substr(at, extent.covered).substr(sizeof(std::uint32_t));
  at += extent.covered + sizeof(std::uint64_t);
  return content;
}

// For a tail that holds no whole record as it stands: what was cut off holds none anywhere in it, nor is it one whose
// length alone is wrong. Quick for what a killed run leaves, a part of one record.
void check_cut_off(std::string_view bytes, std::size_t at, const std::string& file) {
  constexpr std::size_t kFrame = sizeof(std::uint32_t) + sizeof(std::uint64_t);
  constexpr std::size_t kShortest = 7;       // a record without tokens and symbols
  constexpr std::size_t kLongest = 1 << 24;  // longer ones are not looked for
  const std::size_t left = bytes.size() - at;
  if (left < kFrame + kShortest) return;
  std::string mended(bytes.substr(at));
  const auto length = static_cast<std::uint32_t>(left - kFrame);
  std::memcpy(mended.data(), &length, sizeof(length));
  if (hash_fits(mended, 0, sizeof(length) + length)) fail_damaged(at, "a record has another length", file);
  for (std::size_t next = at + 1; next + kFrame + kShortest <= bytes.size(); ++next) {
    const Extent extent = extent_at(bytes, next);
    if (!extent.fits || extent.covered < sizeof(length) + kShortest || extent.covered > kLongest) continue;
    if (hash_fits(bytes, next, extent.covered)) fail_damaged(at, "a record has another length", file);
  }
}

std::string header_bytes(const CorpusHeader& header) {
  ByteWriter content;
  content.text(header.made_by);
  write_alphabet(content, header.meta);
  write_alphabet(content, header.tokens);
  ByteWriter out;
  out.bytes(kCorpusMagic.data(), kCorpusMagic.size());
  out.number(kCorpusVersion);
  const std::string packed = block(content);
  out.bytes(packed.data(), packed.size());
  return out.take();
}

std::string record_bytes(const CorpusRecord& record) {
  ByteWriter content;
  for (const std::uint64_t number : {record.prompt, record.seed, std::uint64_t{record.family},
                                     std::uint64_t{record.parsed ? 1U : 0U}, std::uint64_t{record.actions}}) {
    write_number(content, number);
  }
  for (const std::vector<SymbolId>* list : {&record.tokens, &record.symbols}) {
    write_number(content, list->size());
    for (const SymbolId symbol : *list) write_number(content, static_cast<std::uint32_t>(symbol));
  }
  return block(content);
}

CorpusRecord read_record(std::string_view content, const CorpusHeader& header, const std::string& file) {
  ByteReader in(content, file, kCorpusHint);
  CorpusRecord record;
  record.prompt = read_number(in, file);
  record.seed = read_number(in, file);
  record.family = static_cast<std::uint32_t>(read_number(in, file));
  record.parsed = read_number(in, file) != 0;
  record.actions = static_cast<std::uint32_t>(read_number(in, file));
  const auto read_list = [&](std::vector<SymbolId>& out, std::size_t limit) {
    const std::uint64_t count = read_number(in, file);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t symbol = read_number(in, file);
      if (symbol >= limit) throw InputError(file, "holds a symbol that its alphabet does not have", kCorpusHint);
      out.push_back(SymbolId{static_cast<std::uint32_t>(symbol)});
    }
  };
  read_list(record.tokens, header.tokens.size);
  read_list(record.symbols, header.meta.size);
  if (in.left() != 0) throw InputError(file, "holds a record that is longer than what it says", kCorpusHint);
  return record;
}

// `end` is behind the last whole record.
Corpus read_corpus(std::string_view bytes, const std::string& file, std::size_t& end) {
  if (!bytes.starts_with(kCorpusMagic)) {
    throw InputError(file, "is not a corpus of metactrl", "make one with 'metactrl sample'");
  }
  ByteReader in(bytes, file, kCorpusHint);
  in.bytes(kCorpusMagic.size());
  const auto version = in.number<std::uint32_t>();
  if (version != kCorpusVersion) {
    throw InputError(
        file, str_cat("has version ", version, " of the file format; this program reads version ", kCorpusVersion),
        "sample it anew with this program, or use the program that made it");
  }
  std::size_t at = in.at();
  const std::optional<std::string_view> packed = next_block(bytes, at, file);
  if (!packed) throw InputError(file, "ends inside its header", kCorpusHint);
  Corpus corpus;
  ByteReader header(*packed, file, kCorpusHint);
  corpus.header.made_by = header.text();
  corpus.header.meta = read_alphabet(header, file);
  corpus.header.tokens = read_alphabet(header, file);
  while (const std::optional<std::string_view> content = next_block(bytes, at, file)) {
    corpus.records.push_back(read_record(*content, corpus.header, file));
  }
  check_cut_off(bytes, at, file);
  end = at;
  corpus.bytes_cut_off = bytes.size() - at;
  return corpus;
}

}  // namespace

const char* to_string(CorpusLevel level) { return internal::name_of(level); }

Corpus Corpus::load(const std::string& file) {
  std::size_t end = 0;
  return read_corpus(internal::read_file(file), file, end);
}

SequenceSet Corpus::sequences(CorpusLevel level) const {
  SequenceSet result;
  for (const CorpusRecord& record : records) {
    if (record.parsed) result.add(level == CorpusLevel::kMeta ? record.symbols : record.tokens);
  }
  return result;
}

std::vector<bool> held_out(const Corpus& corpus, std::uint64_t n) {
  std::map<std::uint32_t, std::set<std::uint64_t>> prompts;  // of each family, in order
  for (const CorpusRecord& record : corpus.records) prompts[record.family].insert(record.prompt);
  std::set<std::pair<std::uint32_t, std::uint64_t>> kept_back;
  for (const auto& [family, numbers] : prompts) {
    std::uint64_t place = 0;
    for (const std::uint64_t number : numbers) {
      if (n > 0 && ++place % n == 0) kept_back.emplace(family, number);
    }
  }
  std::vector<bool> result;
  for (const CorpusRecord& record : corpus.records) {
    result.push_back(kept_back.contains({record.family, record.prompt}));
  }
  return result;
}

CorpusWriter::CorpusWriter(const std::string& file, const CorpusHeader& header, bool resume) : file_(file) {
  if (file.empty()) throw InputError("", "the file name is empty", "give the path of a file");
  const auto fail = [&](int error) {
    throw InputError(file, str_cat("cannot be written: ", std::generic_category().message(error)),
                     "choose another path or make room");
  };
  struct stat status {};
  const bool there = ::stat(file.c_str(), &status) == 0;
  if (there && S_ISDIR(status.st_mode)) throw InputError(file, "is a folder", "name a file in it");
  if (there && !S_ISREG(status.st_mode)) throw InputError(file, "is no ordinary file", "name another one");
  const bool exists = there && status.st_size > 0;
  if (exists && !resume) {
    throw InputError(file, "is there already", "go on with it (resume), or name another file");
  }
  std::size_t end = 0;
  if (exists) {
    Corpus corpus = read_corpus(internal::read_file(file), file, end);
    if (corpus.header != header) {
      throw InputError(file, "was begun with other settings", "give the same ones, or name another file");
    }
    earlier_ = std::move(corpus.records);
  } else {
    const std::string bytes = header_bytes(header);
    internal::write_file(file, bytes);
    end = bytes.size();
  }
  descriptor_ = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor_ < 0) fail(errno);
  if (::ftruncate(descriptor_, static_cast<off_t>(end)) != 0 || ::lseek(descriptor_, 0, SEEK_END) < 0) {
    const int error = errno;
    ::close(descriptor_);
    fail(error);
  }
}

CorpusWriter::~CorpusWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void CorpusWriter::add(const CorpusRecord& record) {
  if (const int error = internal::write_all(descriptor_, record_bytes(record)); error != 0) {
    throw InputError(file_, str_cat("cannot be written: ", std::generic_category().message(error)),
                     "make room, and go on with it (resume)");
  }
}

}  // namespace metactrl
