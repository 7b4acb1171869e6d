// No dictionary: a word is cut down to what it may be a form of, and two words are the same where they share one of these.
// Wrong cuts ("string" to "str") meet nothing.
//
// Groups are about one thing each, and hold what brings it about and what ends it: a problem in which plates can be clean has something
// to say about "wash", one in which doors are locked about "unlock".
#include "goals/words.h"

#include <algorithm>
#include <array>

#include "support/lower_case.h"
#include "support/str_cat.h"

namespace metactrl::goals {

namespace {

using internal::is_digit;
using internal::str_cat;

// Each between blanks.
constexpr std::string_view kOrdinary =
    // articles, pronouns, quantities
    " a an the this that these those it its itself they them their theirs he him his she her hers we us our ours you "
    "your "
    "yours yourself i me my mine myself who whom whose which what whatever one ones other others another same such own "
    "each "
    "every all any both either neither none no nothing anything something everything somewhere anywhere everywhere "
    "someone "
    "anyone everyone everybody nobody some few several many much more most less least fewer enough thing things else "
    "rest "
    // numbers
    "zero two three four five six seven eight nine ten eleven twelve twenty hundred dozen pair couple single first "
    "second "
    "third fourth fifth last st nd rd th number total exactly precisely maximum minimum "
    // be, have, do and their like
    "be is are am was were been being isn aren wasn weren s t d ll re ve m do does did doing done don doesn didn have "
    "has "
    "had having haven hasn hadn will would shall should can could may might must need needs needed ought cannot won "
    "wouldn shouldn couldn mustn needn let lets "
    // where, when, and how words are joined
    "about across after again against ahead along already also although always among an and around as aside at away "
    "back "
    "because before behind but by down during even ever except finally for forth forward from further here how however "
    "if in inside "
    "instead into just later lastly longer meanwhile never next nor not now of off on once only onto or out outside "
    "over past "
    "perhaps per since so sometime sometimes somehow soon still than then there therefore though through throughout "
    "till to "
    "together too toward towards unless until up upon via well when whenever where wherever whether while with within "
    "without yet afterward afterwards eventually immediately really simply straight today why yes "
    // manners
    "please kindly thanks thank hello hi hey ok okay dear sorry "
    // talk about the order itself
    "goal goals task tasks job jobs work plan plans aim order orders instruction instructions want wants wanted wish "
    "like "
    "make makes made making sure ensure ensures see certain important check remember end ends ending finish finished "
    "complete "
    "completed final result results state situation way ways time times point moment start begin beginning follow "
    "follows "
    "following followings listen tell said say says mean means achieve achieved become becomes remain remains stay "
    "stays "
    "happen happens case fact true false necessary require requires required supposed try able additional ready step "
    "steps "
    "action actions condition conditions world robot robots agent "
    // to be somewhere, to have something: every domain has its own words for it, and people have these
    "bring brings brought bringing move moves moved moving take takes took taken taking get gets got getting put puts "
    "putting place places placed placing set sets setting go goes went gone going come comes came coming give gives "
    "gave "
    "given giving send sends sent sending keep keeps kept keeping leave leaves leaving transport transported transfer "
    "transferred deliver delivered delivers fetch pick picks picked picking drop drops dropped lay return returns "
    "returned "
    "remove removes removed use uses used using find finds found belong belongs located location locations position "
    "positions destination destinations spot object objects item items stuff avoid ";

constexpr std::string_view kBeforeThings =
    " a an the this that these those each every all any both no another other to into onto from in inside on at near "
    "behind "
    "under bring take move get put place fetch carry give send deliver transport pick leave enter visit ";

constexpr std::array<std::string_view, 31> kGroups = {
    " open close shut ",
    " lock unlock ",
    " turn switch on off power toggle activate start stop run ",
    " light lit lamp switch power dark ",
    " clean wash dirty wipe rinse scrub stain soil polish dust tidy sweep mop ",
    " hold carry grasp grab lift touch catch hand have gripper ",
    " drive walk fly sail ride navigate run travel visit enter exit approach reach drop at in move go location near ",
    " deliver serve receive attend help ",
    " stack unstack pile on top ",
    " load unload pack unpack stow store insert in inside contain ",
    " fill full empty pour drain contain ",
    " heat hot warm cook bake boil fry roast ",
    " cool cold freeze chill ",
    " cut slice chop ",
    " picture image photo photograph camera ",
    " clear free empty uncover available ",
    " paint colour color ",
    " connect disconnect attach detach plug unplug link fasten tie join hitch unhitch hook ",
    " board aboard embark debark disembark depart enter exit ",
    " repair fix break mend work ",
    " build assemble construct produce create make ",
    " wear dress put ",
    " sit stand lie ",
    " eat feed drink food ",
    " finish end complete goal ",
    " test check inspect examine measure ",
    " charge battery power ",
    " plant grow water ",
    " grey gray ",
    " elevator lift ",
    " home house ",
};

constexpr std::array<std::array<std::string_view, 2>, 32> kForms = {{
    {"lit", "light"},     {"held", "hold"},      {"sent", "send"},    {"built", "build"}, {"broken", "break"},
    {"broke", "break"},   {"frozen", "freeze"},  {"driven", "drive"}, {"flown", "fly"},   {"fed", "feed"},
    {"hung", "hang"},     {"hidden", "hide"},    {"worn", "wear"},    {"bound", "bind"},  {"made", "make"},
    {"stood", "stand"},   {"sat", "sit"},        {"swept", "sweep"},  {"eaten", "eat"},   {"drunk", "drink"},
    {"grown", "grow"},    {"sold", "sell"},      {"bought", "buy"},   {"met", "meet"},    {"lain", "lie"},
    {"people", "person"}, {"children", "child"}, {"men", "man"},      {"women", "woman"}, {"mice", "mouse"},
    {"feet", "foot"},     {"teeth", "tooth"},
}};

// Shorter ones are cut-off beginnings.
constexpr std::size_t kShortestBase = 3;
constexpr std::size_t kShortestPart = 3;
constexpr std::size_t kShortestHead = 4;

bool is_in(std::string_view list, std::string_view word) {
  return list.find(str_cat(" ", word, " ")) != std::string_view::npos;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}

// How many bytes of punctuation beyond ASCII begin here: quotation marks, dashes, blanks.
std::size_t mark_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U; };
  const auto within = [](unsigned value, unsigned low, unsigned high) { return value >= low && value <= high; };
  if (byte(0) == 0xC2 && within(byte(1), 0x80, 0xBF)) return 2;
  const bool general = byte(0) == 0xE2 && within(byte(1), 0x80, 0x81) && byte(2) >= 0x80;
  const bool ideographic = byte(0) == 0xE3 && byte(1) == 0x80 && byte(2) >= 0x80;
  const bool wide = byte(0) == 0xEF && byte(1) == 0xBC && (within(byte(2), 0x80, 0x8F) || within(byte(2), 0x9A, 0xA0));
  return general || ideographic || wide ? 3 : 0;
}

bool is_vowel(char c) { return std::string_view("aeiou").find(c) != std::string_view::npos; }

void add_base(std::vector<std::string>& out, std::string base) {
  if (base.size() >= kShortestBase && std::find(out.begin(), out.end(), base) == out.end())
    out.push_back(std::move(base));
}

// What is left before -ed or -ing: "lock" of "locked", "use" of "used", "put" of "putting". Without a vowel it is no word: "thing" is no form of "the".
void add_stems(std::vector<std::string>& out, const std::string& stem) {
  if (stem.find_first_of("aeiouy") == std::string::npos) return;
  add_base(out, stem);
  add_base(out, stem + "e");
  const std::size_t size = stem.size();
  if (size > 2 && stem[size - 1] == stem[size - 2] && !is_vowel(stem[size - 1]))
    add_base(out, stem.substr(0, size - 1));
}

}  // namespace

bool Word::is_number() const { return !text.empty() && is_digit(text[0]); }

std::vector<Word> words_in(std::string_view text) {
  std::vector<Word> out;
  bool open = false;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t mark = mark_at(text, i);
    const bool digit = is_digit(text[i]);
    if (mark > 0 || (!digit && !is_letter(text[i]))) {
      open = false;
      i += std::max<std::size_t>(mark, 1);
      continue;
    }
    if (!open || out.back().is_number() != digit) out.push_back({"", i, i});
    out.back().text += internal::lower_case(text[i]);
    out.back().end = ++i;
    open = true;
  }
  return out;
}

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> out;
  for (Word& word : words_in(name)) out.push_back(std::move(word.text));
  return out;
}

std::vector<std::string> bases(const std::string& word) {
  std::vector<std::string> out = {word};
  for (const auto& [form, base] : kForms) {
    if (word == form) add_base(out, std::string(base));
  }
  const auto without = [&](std::size_t count) { return word.substr(0, word.size() - count); };
  if (word.ends_with("s") && !word.ends_with("ss")) {
    add_base(out, without(1));
    if (word.ends_with("es")) add_base(out, without(2));
    if (word.ends_with("ies")) add_base(out, without(3) + "y");
    if (word.ends_with("ves")) {
      add_base(out, without(3) + "f");
      add_base(out, without(3) + "fe");
    }
  }
  if (word.ends_with("ied")) add_base(out, without(3) + "y");
  if (word.ends_with("ed")) add_stems(out, without(2));
  if (word.ends_with("ing")) add_stems(out, without(3));
  for (const std::string_view contrary : {"un", "dis"}) {
    if (!word.starts_with(contrary) || word.size() < contrary.size() + 4) continue;
    for (const std::string& base : bases(word.substr(contrary.size()))) add_base(out, base);
  }
  return out;
}

bool is_ordinary(const std::string& word) { return is_in(kOrdinary, word); }

bool is_before_things(const std::string& word) { return is_in(kBeforeThings, word); }

bool are_used_for_one_another(const std::string& a, const std::string& b) {
  const std::vector<std::string> forms = bases(a);
  const std::vector<std::string> others = bases(b);
  return std::any_of(kGroups.begin(), kGroups.end(), [&](std::string_view group) {
    const auto is_here = [&](const std::string& word) { return is_in(group, word); };
    return std::any_of(forms.begin(), forms.end(), is_here) && std::any_of(others.begin(), others.end(), is_here);
  });
}

void WordSet::add(std::string_view name) {
  for (const std::string& word : words_of(name)) {
    if (!words_.insert(word).second) continue;
    for (std::string& base : bases(word)) bases_.insert(std::move(base));
  }
}

bool WordSet::has(const std::string& word, const std::set<std::string>& around) const {
  const std::vector<std::string> all = bases(word);
  if (std::any_of(all.begin(), all.end(), [this](const std::string& base) { return bases_.contains(base); }))
    return true;
  for (const std::string_view group : kGroups) {
    if (std::none_of(all.begin(), all.end(), [&](const std::string& base) { return is_in(group, base); })) continue;
    const std::vector<std::string> others = words_of(group);
    if (std::any_of(others.begin(), others.end(), [this](const std::string& one) { return bases_.contains(one); }))
      return true;
  }
  return std::any_of(all.begin(), all.end(), [&](const std::string& base) { return is_part(base, around); });
}

// What a long word ends with, as "fork" in "cutleryfork"; the beginning or the end of one whose other half is a word, too, as "table" in
// "ontable"; and what several have in common but for a letter: "room" of "rooma" and "roomb".
bool WordSet::is_part(const std::string& part, const std::set<std::string>& around) const {
  if (part.size() < kShortestPart) return false;
  const auto is_word = [&](const std::string& other) {
    return is_ordinary(other) || bases_.contains(other) || around.contains(other) ||
           std::any_of(kGroups.begin(), kGroups.end(), [&](std::string_view group) { return is_in(group, other); });
  };
  std::size_t lettered = 0;
  for (const std::string& whole : words_) {
    if (whole.size() <= part.size()) continue;
    const std::size_t rest = whole.size() - part.size();
    if (whole.starts_with(part)) {
      if (rest == 1 && ++lettered > 1) return true;
      if (is_word(whole.substr(part.size()))) return true;
      // "blocks" in "blocksworld"
      if (whole[part.size()] == 's' && rest > 1 && is_word(whole.substr(part.size() + 1))) return true;
    }
    const bool long_enough = part.size() >= kShortestHead && rest >= kShortestPart;
    if (whole.ends_with(part) && (long_enough || is_word(whole.substr(0, rest)))) return true;
  }
  return false;
}

}  // namespace metactrl::goals
