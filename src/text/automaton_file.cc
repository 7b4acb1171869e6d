// Saving and loading a compiled automaton.
//
// The file, in the machine's byte order:
//
//     "mctrlgam"  version  byte-order mark  fingerprint  sizes ...  arrays ...  checksum of everything before it
//
// The fingerprint covers vocabulary, tokenization, format, actions, prompt end and number of actions; a file made for
// anything else is refused. The checksum finds damage. What a reader of the automaton relies on for memory safety
// (offsets, ids, ranks) is checked again.
#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "metactrl/error.h"
#include "support/files.h"
#include "support/str_cat.h"
#include "text/automaton.h"
#include "text/token_index.h"

namespace metactrl {

using internal::str_cat;

namespace {

constexpr char kMagic[] = {'m', 'c', 't', 'r', 'l', 'g', 'a', 'm'};
constexpr std::uint32_t kVersion = 2;
constexpr std::uint32_t kByteOrder = 0x01020304U;

class Writer {
 public:
  template <typename T>
  void number(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
  }
  template <typename T>
  void array(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    number(std::uint64_t{values.size()});
    if (!values.empty()) bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }
  std::string finish() {
    number(text::hash_bytes(bytes_));
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
};

}  // namespace

void TokenAutomaton::save(const std::string& file) const {
  Writer writer;
  for (const char c : kMagic) writer.number(c);
  writer.number(kVersion);
  writer.number(kByteOrder);
  writer.number(fingerprint_);
  writer.number(std::uint64_t{num_actions_});
  writer.number(std::uint64_t{num_separators_});
  writer.number(std::uint64_t{num_states_});
  writer.number(std::uint64_t{first_group_});
  writer.array(groups_);
  writer.array(group_after_);
  writer.array(entries_);
  writer.array(first_token_);
  writer.array(tokens_);
  writer.array(rank_);
  writer.array(opening_);
  writer.array(empty_plan_);
  writer.array(end_of_turn_);
  writer.number(std::uint64_t{prefixes_.size()});
  for (const std::vector<TokenId>& prefix : prefixes_) writer.array(prefix);
  internal::write_file(file, writer.finish());
}

// Reads one file; throws InputError at the first thing that is not as it should be.
class AutomatonReader {
 public:
  AutomatonReader(const std::string& file, const Vocabulary& vocabulary, Tokenization tokenization)
      : file_(file),
        vocabulary_(vocabulary),
        tokenization_(tokenization),
        num_symbols_(tokenization == Tokenization::kAny ? 256 : vocabulary.size()),
        bytes_(internal::read_file(file)),
        left_(bytes_) {}

  std::shared_ptr<const TokenAutomaton> read(std::uint64_t fingerprint, std::size_t num_actions,
                                             std::size_t num_separators);

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(file_, str_cat("not a usable token automaton: ", what),
                     "delete the file; it is made again when needed");
  }
  template <typename T>
  T number() {
    T value{};
    if (left_.size() < sizeof(T)) refuse("the file is truncated");
    std::memcpy(&value, left_.data(), sizeof(T));
    left_.remove_prefix(sizeof(T));
    return value;
  }
  template <typename T>
  void array(std::vector<T>* out) {
    const auto size = number<std::uint64_t>();
    if (size > left_.size() / sizeof(T)) refuse("the file is truncated");
    out->resize(size);
    if (size > 0) std::memcpy(out->data(), left_.data(), size * sizeof(T));
    left_.remove_prefix(size * sizeof(T));
  }
  void symbols(std::vector<TokenId>* out, TokenId lowest = TokenId{0}) {
    array(out);
    for (const TokenId symbol : *out) {
      if (symbol < lowest || static_cast<std::int64_t>(symbol) >= static_cast<std::int64_t>(num_symbols_)) {
        refuse("it holds a token that does not exist");
      }
    }
  }
  void read_header(std::uint64_t fingerprint);
  void read_body(TokenAutomaton* out);
  void check(const TokenAutomaton& out) const;

  const std::string& file_;
  const Vocabulary& vocabulary_;
  Tokenization tokenization_;
  std::size_t num_symbols_;
  std::string bytes_;
  std::string_view left_;
};

void AutomatonReader::read_header(std::uint64_t fingerprint) {
  if (left_.size() < sizeof(kMagic) || std::memcmp(left_.data(), kMagic, sizeof(kMagic)) != 0)
    refuse("it begins like another kind of file");
  left_.remove_prefix(sizeof(kMagic));
  const auto version = number<std::uint32_t>();
  if (version != kVersion) refuse(str_cat("it has version ", version, ", this program reads version ", kVersion));
  if (number<std::uint32_t>() != kByteOrder) refuse("it was written on a machine of another byte order");
  std::uint64_t checksum = 0;
  if (left_.size() < sizeof(checksum)) refuse("the file is truncated");
  const std::size_t covered = bytes_.size() - sizeof(checksum);
  std::memcpy(&checksum, bytes_.data() + covered, sizeof(checksum));
  if (text::hash_bytes(std::string_view(bytes_).substr(0, covered)) != checksum)
    refuse("its checksum is wrong, it was damaged");
  left_.remove_suffix(sizeof(checksum));
  if (number<std::uint64_t>() != fingerprint) {
    refuse("it was made for another vocabulary, format, task or prompt");
  }
}

void AutomatonReader::read_body(TokenAutomaton* out) {
  out->num_actions_ = number<std::uint64_t>();
  out->num_separators_ = number<std::uint64_t>();
  out->num_states_ = number<std::uint64_t>();
  out->first_group_ = static_cast<std::uint32_t>(number<std::uint64_t>());
  array(&out->groups_);
  array(&out->group_after_);
  array(&out->entries_);
  array(&out->first_token_);
  symbols(&out->tokens_, TokenAutomaton::kEnd);
  array(&out->rank_);
  symbols(&out->opening_);
  symbols(&out->empty_plan_);
  array(&out->end_of_turn_);  // compared with the vocabulary's own
  const auto count = number<std::uint64_t>();
  if (count > left_.size()) refuse("the file is truncated");
  out->prefixes_.resize(count);
  for (std::vector<TokenId>& prefix : out->prefixes_) symbols(&prefix);
  if (!left_.empty()) refuse("something follows its end");
}

void AutomatonReader::check(const TokenAutomaton& out) const {
  const std::size_t count = out.entries_.size();
  const std::size_t columns = out.num_separators_ + 1;
  const auto require = [&](bool holds) {
    if (!holds) refuse("its parts contradict each other");
  };
  require(out.groups_.size() >= 2 && out.groups_.front() == 0 && out.groups_.back() == count);
  require(std::is_sorted(out.groups_.begin(), out.groups_.end()));
  const std::size_t groups = out.groups_.size() - 1;
  require(out.first_group_ < groups && out.group_after_.size() == out.num_separators_);
  for (const std::uint32_t group : out.group_after_) require(group < groups);
  require(count == groups * out.num_actions_ * columns && out.rank_.size() == count);
  require(out.first_token_.size() == count + 1 && out.first_token_.front() == 0 &&
          out.first_token_.back() == out.tokens_.size());
  for (std::size_t rank = 0; rank < count; ++rank) {
    const TokenAutomaton::Entry& entry = out.entries_[rank];
    require(out.first_token_[rank] < out.first_token_[rank + 1]);
    require(static_cast<std::size_t>(entry.action) < out.num_actions_);
    require(entry.next == TokenAutomaton::kClose || entry.next < out.num_separators_);
    const std::span<const TokenId> text = out.text_tokens(static_cast<std::uint32_t>(rank));
    require(std::find(text.begin(), text.end(), TokenAutomaton::kEnd) == text.end());
  }
  for (std::uint32_t group = 0; group < groups; ++group) {
    for (std::uint32_t rank = out.groups_[group]; rank < out.groups_[group + 1]; ++rank) {
      require(out.rank(out.entries_[rank].action, out.entries_[rank].next, group) == rank);
    }
  }
  require(out.end_of_turn_ == vocabulary_.end_of_turn());
}

std::shared_ptr<const TokenAutomaton> AutomatonReader::read(std::uint64_t fingerprint, std::size_t num_actions,
                                                            std::size_t num_separators) {
  read_header(fingerprint);
  std::shared_ptr<TokenAutomaton> out(new TokenAutomaton());
  read_body(out.get());
  if (out->num_actions_ != num_actions || out->num_separators_ != num_separators)
    refuse("it was made for another task");
  check(*out);
  if (tokenization_ == Tokenization::kAny) out->lexicon_ = vocabulary_.index().lexicon(vocabulary_);
  out->fingerprint_ = fingerprint;
  return out;
}

std::shared_ptr<const TokenAutomaton> TokenAutomaton::load(const std::string& file, const PlanSpelling& spelling,
                                                           const Vocabulary& vocabulary,
                                                           const AutomatonOptions& options) {
  return AutomatonReader(file, vocabulary, options.tokenization)
      .read(AutomatonCompiler::fingerprint(spelling, vocabulary, options), spelling.num_actions(),
            spelling.format().separators.size());
}

}  // namespace metactrl
