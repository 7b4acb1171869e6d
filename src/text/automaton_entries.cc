// The tokens of every entry, without encoding every entry.
//
// A task with forty thousand actions has eighty thousand entries, but they are made of few texts: names, arguments and
// the literals between them. An entry is cut into pieces, at most one cut per literal,
//
//     WALK": ["  soap", "1002  "], "
//
// and the tokens of a piece are remembered. How a piece is encoded could depend on its neighbours; it is not believed
// that it does not:
//
//   - An entry that holds a piece never seen, or two neighbours never seen side by side, is encoded as a whole. Its
//     tokens are split at the cuts and remembered, and the borders are marked as verified. Neighbours count as seen
//     when the last two tokens of the left one and the first two of the right one were seen together: a token of a
//     merge-based tokenizer does not look further than its neighbour, and the patterns that split text into words not
//     much further. Which tokens of the vocabulary match the text across the border counts as well.
//   - Where none matches, no token can straddle the border and the merges on either side are independent. Then it is
//     enough to have seen the two bytes at the border once.
//   - When the tokenizer does not cut a literal where we did, the cut moves to a place where it has always cut that
//     literal so far; when there is none, the literal is not cut any more. So the number of such surprises is bounded
//     by the literals' lengths.
//   - When a remembered piece has other tokens this time, the entry is kept as one piece of its own.
//
// So an entry was either encoded as a whole, or every one of its borders was, in another one.
#include <algorithm>
#include <utility>

#include "text/automaton.h"

namespace metactrl::text {

namespace {

// Entries take from less than a microsecond to a millisecond each.
constexpr std::size_t kBetweenChecks = 64;

}  // namespace

void NumberSet::insert(std::uint64_t value) {
  if (contains(value)) return;
  if (2 * (size_ + 1) > slots_.size()) {
    std::vector<std::uint64_t> old(slots_.size() * 2, 0);
    old.swap(slots_);
    size_ = 0;
    for (const std::uint64_t kept : old) {
      if (kept != 0) insert(kept);
    }
  }
  std::size_t at = mix(0, value) & (slots_.size() - 1);
  while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = value;
  ++size_;
}

// --- pieces ----------------------------------------------------------------------------------------------------------

std::uint32_t PieceTable::find(std::string_view text) const {
  const std::uint64_t hash = hash_bytes(text);
  for (std::size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
    const std::uint32_t piece = slots_[at];
    if (piece == kNone) return kNone;
    const Piece& known = pieces_[piece];
    if (known.hash == hash && std::string_view(text_).substr(known.text, known.length) == text) return piece;
  }
}

std::uint32_t PieceTable::add(std::string_view text, std::span<const TokenId> tokens, bool findable) {
  const auto piece = static_cast<std::uint32_t>(pieces_.size());
  const auto token = [&](std::size_t i) { return i < tokens.size() ? tokens[i] : TokenId{-1}; };
  const std::size_t last = tokens.size() - 1;
  pieces_.push_back({hash_bytes(text), text_.size(), static_cast<std::uint32_t>(text.size()),
                     class_of(token(0), token(1)), class_of(token(last), last > 0 ? token(last - 1) : TokenId{-1})});
  text_ += text;
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  first_token_.push_back(tokens_.size());
  if (!findable) return piece;
  if (2 * (num_findable_ + 1) > slots_.size()) grow();
  std::size_t at = pieces_[piece].hash & (slots_.size() - 1);
  while (slots_[at] != kNone) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = piece;
  ++num_findable_;
  return piece;
}

std::uint32_t PieceTable::class_of(TokenId first, TokenId second) {
  return classes_.try_emplace({first, second}, static_cast<std::uint32_t>(classes_.size() + 1)).first->second;
}

void PieceTable::grow() {
  std::vector<std::uint32_t> old(slots_.size() * 2, kNone);
  old.swap(slots_);
  for (const std::uint32_t piece : old) {
    if (piece == kNone) continue;
    std::size_t at = pieces_[piece].hash & (slots_.size() - 1);
    while (slots_[at] != kNone) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = piece;
  }
}

// --- entries ---------------------------------------------------------------------------------------------------------

EntryBuilder::EntryBuilder(const PlanSpelling& spelling, const Vocabulary& vocabulary, const Seams& seams,
                           internal::Meter& meter)
    : spelling_(spelling), vocabulary_(vocabulary), meter_(meter), seams_(seams) {}

// Few pieces differ when the cut before an argument is late and the one behind it early: then the argument stands
// alone.
void EntryBuilder::Literal::choose() {
  cut = kNoCut;
  const std::size_t size = possible.size() - 1;
  if (place == Place::kLast) {
    for (std::size_t at = 0; at < size && cut == kNoCut; ++at) {
      if (possible[at]) cut = at;
    }
  } else {
    for (std::size_t at = size + 1; at-- > (place == Place::kFirst ? 1 : 0) && cut == kNoCut;) {
      if (possible[at]) cut = at;
    }
  }
}

std::uint32_t EntryBuilder::literal_id(Place place, const std::string& text) {
  const auto [found, added] = literal_ids_.try_emplace({place, text}, static_cast<std::uint32_t>(literals_.size()));
  if (added) {
    Literal& literal = literals_.emplace_back();
    literal.place = place;
    literal.possible.resize(text.size() + 1);
    for (std::size_t at = 0; at <= text.size(); ++at) literal.possible[at] = is_character_border(text, at);
    literal.choose();
  }
  return found->second;
}

std::vector<EntryBuilder::Run> EntryBuilder::find_runs() const {
  std::vector<Run> runs;
  const auto action = [&](std::size_t a) -> const std::vector<std::string>& {
    return spelling_.action(ActionId{static_cast<std::uint32_t>(a)}).pieces;
  };
  for (std::size_t a = 0; a < spelling_.num_actions(); ++a) {
    bool same = !runs.empty() && action(a).size() == action(a - 1).size();
    for (std::size_t i = 0; same && i < action(a).size(); i += 2) same = action(a)[i] == action(a - 1)[i];
    if (!same) runs.push_back({a, a});
    runs.back().end = a + 1;
  }
  return runs;
}

EntryBuilder::Frame EntryBuilder::make_frame(const PlanSpelling::Item& action, std::size_t group, std::size_t column) {
  Frame frame;
  for (std::size_t i = 0; i < action.pieces.size(); i += 2) frame.literals.push_back(action.pieces[i]);
  frame.literals.front() = seams_.beginnings[group] + frame.literals.front().substr(seams_.common);
  frame.literals.back() += seams_.endings[column];
  if (frame.literals.size() == 1) return frame;
  for (std::size_t i = 0; i < frame.literals.size(); ++i) {
    const Place place = i == 0 ? Place::kFirst : i + 1 == frame.literals.size() ? Place::kLast : Place::kMiddle;
    frame.ids.push_back(literal_id(place, frame.literals[i]));
  }
  return frame;
}

void EntryBuilder::spell(const PlanSpelling::Item& action, const Frame& frame) {
  text_.clear();
  literal_at_.clear();
  for (std::size_t i = 0; i < frame.literals.size(); ++i) {
    literal_at_.push_back(text_.size());
    text_ += frame.literals[i];
    if (2 * i + 1 < action.pieces.size()) text_ += action.pieces[2 * i + 1];
  }
  find_cuts(frame);
}

void EntryBuilder::find_cuts(const Frame& frame) {
  cuts_.assign(1, 0);
  for (std::size_t i = 0; i < frame.ids.size(); ++i) {
    const Literal& literal = literals_[frame.ids[i]];
    if (literal.cut == kNoCut) continue;
    const std::size_t at = literal_at_[i] + literal.cut;
    if (at > cuts_.back() && at < text_.size()) cuts_.push_back(at);
  }
  cuts_.push_back(text_.size());
}

bool EntryBuilder::token_ends_at(const std::uint32_t* first, const std::uint32_t* last, std::size_t distance) const {
  std::size_t back = 0;
  for (const std::uint32_t* piece = last;; --piece) {
    const std::span<const TokenId> tokens = table_.tokens(*piece);
    for (std::size_t i = tokens.size(); i-- > 0;) {
      if (back >= distance) return back == distance;
      back += vocabulary_.bytes(tokens[i]).size();
    }
    if (piece == first) return back == distance;
  }
}

// `left` and left[1] are the neighbours, text_ is the entry.
std::uint64_t EntryBuilder::border_key(std::size_t cut, const std::uint32_t* first, const std::uint32_t* left) const {
  const char before = text_[cut - 1];
  const char behind = text_[cut];
  std::uint64_t straddling = 0;
  each_holder(vocabulary_, before, behind, text_.size(), [&](TokenId token, std::size_t size) {
    const std::string_view bytes = vocabulary_.bytes(token);
    if (size > cut || text_.compare(cut - size, bytes.size(), bytes) != 0) return;
    straddling =
        mix(straddling + size, static_cast<std::uint64_t>(token) * 2 + (token_ends_at(first, left, size) ? 1 : 0)) | 1U;
  });
  if (straddling == 0)
    return std::uint64_t{static_cast<unsigned char>(before)} << 8U | static_cast<unsigned char>(behind) | 1U << 16U;
  return mix(straddling, std::uint64_t{table_.back(left[0])} << 32U | table_.front(left[1])) | std::uint64_t{1} << 63U;
}

// The entry's pieces, when all of them and all borders are known.
bool EntryBuilder::look_up(std::uint32_t* out) const {
  for (std::size_t i = 0; i + 1 < cuts_.size(); ++i) {
    out[i] = table_.find(std::string_view(text_).substr(cuts_[i], cuts_[i + 1] - cuts_[i]));
    if (out[i] == PieceTable::kNone) return false;
    if (i == 0) continue;
    if (!verified_.contains(border_key(cuts_[i], out, out + i - 1))) return false;
  }
  std::fill(out + cuts_.size() - 1, out + stride_, PieceTable::kNone);
  return true;
}

void EntryBuilder::learn(const Frame& frame, std::uint32_t* out) {
  const std::vector<TokenId> tokens = encode_exactly(vocabulary_, text_, {}, "\"" + text_ + "\"");
  borders_.assign(text_.size() + 1, false);
  std::size_t at = 0;
  borders_[0] = true;
  for (const TokenId token : tokens) borders_[at += vocabulary_.bytes(token).size()] = true;
  for (std::size_t i = 0; i < frame.ids.size(); ++i) {
    Literal& literal = literals_[frame.ids[i]];
    for (std::size_t offset = 0; offset < literal.possible.size(); ++offset) {
      if (!borders_[literal_at_[i] + offset]) literal.possible[offset] = false;
    }
    if (literal.cut != kNoCut && !literal.possible[literal.cut]) literal.choose();
  }
  find_cuts(frame);
  record(tokens, out);
}

// Splits the tokens of the whole entry, whose cuts are between tokens, into its pieces.
void EntryBuilder::record(std::span<const TokenId> tokens, std::uint32_t* out) {
  std::size_t token = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i + 1 < cuts_.size(); ++i) {
    const std::size_t first = token;
    while (at < cuts_[i + 1]) at += vocabulary_.bytes(tokens[token++]).size();
    const std::span<const TokenId> part = tokens.subspan(first, token - first);
    const std::string_view text = std::string_view(text_).substr(cuts_[i], cuts_[i + 1] - cuts_[i]);
    out[i] = table_.find(text);
    if (out[i] == PieceTable::kNone) {
      out[i] = table_.add(text, part, true);
    } else if (!std::ranges::equal(table_.tokens(out[i]), part)) {
      out[0] = table_.add(text_, tokens, false);
      std::fill(out + 1, out + stride_, PieceTable::kNone);
      return;
    }
  }
  for (std::size_t i = 1; i + 1 < cuts_.size(); ++i) verified_.insert(border_key(cuts_[i], out, out + i - 1));
  std::fill(out + cuts_.size() - 1, out + stride_, PieceTable::kNone);
}

void EntryBuilder::build() {
  const std::size_t num_actions = spelling_.num_actions();
  const std::size_t num_columns = seams_.endings.size();
  std::size_t most = 1;
  for (std::size_t a = 0; a < num_actions; ++a) {
    most = std::max(most, spelling_.action(ActionId{static_cast<std::uint32_t>(a)}).pieces.size());
  }
  stride_ = most == 1 ? 1 : most / 2 + 2;  // one cut per literal makes one piece more than literals
  entries_.assign(num_entries() * stride_, PieceTable::kNone);
  const std::vector<Run> runs = find_runs();
  for (std::size_t group = 0; group < seams_.beginnings.size(); ++group) {
    for (const Run& run : runs) {
      for (std::size_t column = 0; column < num_columns; ++column) {
        const Frame frame =
            make_frame(spelling_.action(ActionId{static_cast<std::uint32_t>(run.begin)}), group, column);
        for (std::size_t a = run.begin; a < run.end; ++a) {
          if (a % kBetweenChecks == 0) meter_.ask();
          std::uint32_t* out = entries_.data() + ((group * num_actions + a) * num_columns + column) * stride_;
          spell(spelling_.action(ActionId{static_cast<std::uint32_t>(a)}), frame);
          if (!text_.empty() && !look_up(out)) learn(frame, out);
        }
      }
    }
  }
}

std::string EntryBuilder::text(std::size_t entry) const {
  const std::size_t column = entry % seams_.endings.size();
  const std::size_t action = entry / seams_.endings.size() % spelling_.num_actions();
  const std::size_t group = entry / seams_.endings.size() / spelling_.num_actions();
  const std::string item = spelling_.action(ActionId{static_cast<std::uint32_t>(action)}).text();
  return seams_.beginnings[group] + item.substr(seams_.common) + seams_.endings[column];
}

void EntryBuilder::append_tokens(std::size_t entry, std::vector<TokenId>* out) const {
  for (const std::uint32_t piece : pieces(entry)) {
    if (piece == PieceTable::kNone) break;
    const std::span<const TokenId> tokens = table_.tokens(piece);
    out->insert(out->end(), tokens.begin(), tokens.end());
  }
}

}  // namespace metactrl::text
