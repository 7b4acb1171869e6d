// The parts of the token automaton's compiler.
//
//   Seams         where a plan's text is cut between entries; found by automaton_cut.cc from the tokenizer's own cuts
//   EntryBuilder  the tokens of every entry, without encoding every entry (automaton_entries.cc)
//   AutomatonCompiler  puts them together, sorts, and checks (automaton.cc); over bytes, where there is nothing to find
//                 out about a tokenizer, it does all of it at once (automaton_bytes.cc)
#ifndef METACTRL_SRC_TEXT_AUTOMATON_H_
#define METACTRL_SRC_TEXT_AUTOMATON_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/hash.h"
#include "support/meter.h"
#include "support/utf8.h"
#include "text/token_automaton.h"
#include "text/token_index.h"

namespace metactrl::text {

using internal::hash_bytes;
using internal::mix;

// How a plan's text falls into parts:
//
//     opening, then entries with prefixes between them; an entry is the beginning of its group, its item without the
//     first `common` bytes, and an ending
struct Seams {
  std::size_t common = 0;                  // bytes that all items begin with and that are not spelled by the items
  std::vector<std::string> beginnings;     // by group
  std::uint32_t first_group = 0;           // of the first entry
  std::vector<std::uint32_t> group_after;  // by separator
  std::vector<std::string> endings;        // by separator, then the closing
  std::string opening;
  std::vector<std::string> prefixes;  // before entry 2, 3, ...; empty in formats without numbers
};

// Every way to cut that agrees with the tokenizer on a sample of plans, the most promising first. None when the
// encoding cannot be cut. Throws InputError when the sample cannot be written in this vocabulary.
std::vector<Seams> find_seams(const PlanSpelling& spelling, const Vocabulary& vocabulary,
                              const AutomatonOptions& options);

// The last `size` bytes of a text, at least, from the beginning of a character.
std::string_view tail_of(std::string_view text, std::size_t size);
// Whether a text may be cut here without cutting a UTF-8 character.
inline bool is_character_border(std::string_view text, std::size_t at) {
  return at >= text.size() || !internal::is_continuation(text[at]);
}

// The tokenizer's encoding, when it stands for exactly this text. Throws InputError that names `what` otherwise.
std::vector<TokenId> encode_exactly(const Vocabulary& vocabulary, std::string_view text, std::string_view context,
                                    const std::string& what);

// Calls `each(token, left)` for every token of at most `longest` bytes that holds the two bytes at a border, for each
// of their places in it: `left` of its bytes would stand before the border. Some vocabularies have tokens of whole
// paragraphs, so the limit saves more than it seems to.
template <typename Each>
void each_holder(const Vocabulary& vocabulary, char before, char behind, std::size_t longest, const Each& each) {
  for (const TokenId token : vocabulary.index().holders(vocabulary, before, behind)) {
    const std::string_view bytes = vocabulary.bytes(token);
    if (bytes.size() > longest) continue;
    for (std::size_t left = 1; left < bytes.size(); ++left) {
      if (bytes[left - 1] == before && bytes[left] == behind) each(token, left);
    }
  }
}

// A set of numbers other than 0; open addressing.
class NumberSet {
 public:
  NumberSet() : slots_(64, 0) {}
  bool contains(std::uint64_t value) const {
    for (std::size_t at = mix(0, value) & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == value) return true;
      if (slots_[at] == 0) return false;
    }
  }
  void insert(std::uint64_t value);

 private:
  std::vector<std::uint64_t> slots_;
  std::size_t size_ = 0;
};

// The distinct pieces that entries are made of: their text and their tokens.
class PieceTable {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  PieceTable() : slots_(256, kNone), first_token_{0} {}
  std::uint32_t find(std::string_view text) const;
  // `findable` pieces are what find() gives for their text from now on.
  std::uint32_t add(std::string_view text, std::span<const TokenId> tokens, bool findable);

  std::size_t size() const { return pieces_.size(); }
  std::span<const TokenId> tokens(std::uint32_t piece) const {
    return {tokens_.data() + first_token_[piece], first_token_[piece + 1] - first_token_[piece]};
  }
  // Pieces that begin (end) with the same two tokens have the same front (back); from 1.
  std::uint32_t front(std::uint32_t piece) const { return pieces_[piece].front; }
  std::uint32_t back(std::uint32_t piece) const { return pieces_[piece].back; }

 private:
  struct Piece {
    std::uint64_t hash = 0;
    std::size_t text = 0;
    std::uint32_t length = 0;
    std::uint32_t front = 0;
    std::uint32_t back = 0;
  };
  std::uint32_t class_of(TokenId first, TokenId second);
  void grow();

  std::vector<Piece> pieces_;
  std::string text_;
  std::vector<std::uint32_t> slots_;
  std::size_t num_findable_ = 0;
  std::vector<std::size_t> first_token_;
  std::vector<TokenId> tokens_;
  std::map<std::pair<TokenId, TokenId>, std::uint32_t> classes_;
};

// The tokens of every entry, for one choice of seams. Entries are numbered by group, action, and what follows
// (separators, then the closing).
class EntryBuilder {
 public:
  EntryBuilder(const PlanSpelling& spelling, const Vocabulary& vocabulary, const Seams& seams, internal::Meter& meter);

  // Throws InputError when an entry cannot be written.
  void build();

  std::size_t num_entries() const { return seams_.beginnings.size() * spelling_.num_actions() * seams_.endings.size(); }
  // At most this many pieces make an entry.
  std::size_t max_pieces() const { return stride_; }
  // The entry's pieces, then kNone up to max_pieces().
  std::span<const std::uint32_t> pieces(std::size_t entry) const {
    return {entries_.data() + entry * stride_, stride_};
  }
  const PieceTable& table() const { return table_; }
  std::string text(std::size_t entry) const;
  void append_tokens(std::size_t entry, std::vector<TokenId>* out) const;

 private:
  enum class Place : std::uint8_t { kFirst, kMiddle, kLast };
  // A text between arguments, and where the tokenizer has always cut it so far.
  struct Literal {
    Place place = Place::kMiddle;
    std::vector<bool> possible;  // by offset, 0 to the text's length
    std::size_t cut = kNoCut;
    void choose();
  };
  static constexpr std::size_t kNoCut = static_cast<std::size_t>(-1);
  // Actions in a row that differ only in their arguments.
  struct Run {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  // A run's literals for one group and one ending.
  struct Frame {
    std::vector<std::string> literals;
    std::vector<std::uint32_t> ids;
  };

  std::vector<Run> find_runs() const;
  Frame make_frame(const PlanSpelling::Item& action, std::size_t group, std::size_t column);
  std::uint32_t literal_id(Place place, const std::string& text);
  void spell(const PlanSpelling::Item& action, const Frame& frame);
  void find_cuts(const Frame& frame);
  bool look_up(std::uint32_t* out) const;
  void learn(const Frame& frame, std::uint32_t* out);
  void record(std::span<const TokenId> tokens, std::uint32_t* out);
  // What has to be seen once for the border between two neighbours, pieces left[0] and left[1], to be believed.
  std::uint64_t border_key(std::size_t cut, const std::uint32_t* first, const std::uint32_t* left) const;
  // Whether a token ends `distance` bytes before the end of piece `last`, with the pieces before it.
  bool token_ends_at(const std::uint32_t* first, const std::uint32_t* last, std::size_t distance) const;

  const PlanSpelling& spelling_;
  const Vocabulary& vocabulary_;
  internal::Meter& meter_;
  const Seams& seams_;
  PieceTable table_;
  std::map<std::pair<Place, std::string>, std::uint32_t> literal_ids_;
  std::vector<Literal> literals_;
  NumberSet verified_;  // borders that some entry encoded as a whole has shown to be as expected
  std::size_t stride_ = 0;
  std::vector<std::uint32_t> entries_;

  // The entry at hand.
  std::string text_;
  std::vector<std::size_t> literal_at_;
  std::vector<std::size_t> cuts_;  // 0, the places inside, the text's length
  std::vector<bool> borders_;      // by offset: whether a token ends there
};

}  // namespace metactrl::text

namespace metactrl {

namespace text {
// The numbers of all entries, by group and then in lexicographic order of their tokens.
std::vector<std::uint32_t> sort_entries(const EntryBuilder& builder, std::size_t num_groups, internal::Meter& meter);

// Whether the tokenizer cuts at every seam of every plan: an empty string, or where it does not (automaton_seams.cc).
std::string check_seams(const TokenAutomaton& automaton, const Vocabulary& vocabulary, const Seams& seams);
}  // namespace text

// One compilation. Used once.
class AutomatonCompiler {
 public:
  AutomatonCompiler(const PlanSpelling& spelling, const Vocabulary& vocabulary, const AutomatonOptions& options,
                    internal::Meter& meter);
  std::shared_ptr<const TokenAutomaton> run();

  // Names everything that a compiled automaton depends on.
  static std::uint64_t fingerprint(const PlanSpelling& spelling, const Vocabulary& vocabulary,
                                   const AutomatonOptions& options);

 private:
  std::shared_ptr<const TokenAutomaton> run_over_bytes();
  void fill_bytes();
  void check_single_bytes() const;

  // These return an empty string, or why these seams do not do.
  std::string try_seams(const text::Seams& seams);
  std::string check_strings();
  std::string encode_rest(const text::EntryBuilder& builder, const text::Seams& seams);
  std::string check_opening(const text::EntryBuilder& builder, const text::Seams& seams) const;
  std::string check_plans() const;
  // These throw InputError: no seams would do.
  void check_empty_plan() const;
  void check_border(std::string_view text) const;

  void fill_entries(const text::EntryBuilder& builder);
  std::vector<TokenId> encode(std::string_view text, std::string_view context) const;
  std::vector<TokenId> path(std::span<const ActionId> plan, std::span<const std::uint32_t> separators) const;

  const PlanSpelling& spelling_;
  const Vocabulary& vocabulary_;
  internal::Meter& meter_;
  const AutomatonOptions& options_;
  std::string context_;  // the end of the prompt, as much as matters
  std::shared_ptr<TokenAutomaton> automaton_;
};

}  // namespace metactrl

#endif  // METACTRL_SRC_TEXT_AUTOMATON_H_
