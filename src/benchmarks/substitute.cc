// The task part of a prompt is taken as words: runs of letters, digits, underscores, and dots inside of them. A word
// that is an object's name, or the word for its class, is replaced wherever it stands.
//
// Objects are found by the line that introduces them:
//
//     soap, id: 1002, properties: ['GRABBABLE', 'MOVABLE']                    VirtualHome, actions
//     | soap.1002 | placable_objects | ['GRABBABLE', 'MOVABLE'] |             VirtualHome, subgoals
//     {'name': 'jar_0', 'category': 'jar.n.01'}                               BEHAVIOR, actions
//     {'name': 'jar.0', 'category': 'jar_n_01'}                               BEHAVIOR, subgoals
#include "benchmarks/substitute.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "benchmarks/behavior/taxonomy.h"
#include "benchmarks/prompt_lines.h"
#include "metactrl/error.h"
#include "support/splitmix.h"

namespace metactrl::benchmarks {

namespace {

constexpr std::string_view kTaskBegins[] = {"Objects in the scene:", "# Target Task:", "Your task:"};
// Of the objects that can be replaced, so many percent are.
constexpr std::size_t kReplacedPercent = 80;
constexpr int kAttempts = 8;

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

std::string sorted_words(std::string_view list) {
  std::vector<std::string> words;
  if (!read_word_list(list, words)) return {};
  std::sort(words.begin(), words.end());
  std::string out;
  for (const std::string& word : words) out += word + " ";
  return out;
}

// By the abilities of a class; empty when the taxonomy does not know it.
std::string abilities_of(std::string synset) {
  for (std::size_t at = synset.find("_n_"); at != std::string::npos; at = synset.find("_n_", at)) {
    if (at + 5 == synset.size()) synset[at] = synset[at + 2] = '.';
    ++at;
  }
  const behavior::Taxonomy::Class* const found = behavior::Taxonomy::builtin().of_synset(synset);
  if (found == nullptr) return {};
  std::string out;
  for (const std::string& ability : found->all) out += ability + " ";
  return out;
}

// Every word of the text that `words` knows, replaced.
std::string replace_words(std::string_view text, const std::map<std::string, std::string, std::less<>>& words) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_word_character(text[end])) ++end;
    while (end > at && text[end - 1] == '.') --end;  // the end of a sentence
    if (end == at) {
      out += text[at++];
      continue;
    }
    const std::string_view word = text.substr(at, end - at);
    const auto found = words.find(word);
    out += found == words.end() ? word : std::string_view(found->second);
    at = end;
  }
  return out;
}

}  // namespace

std::vector<PromptResampler::Object> PromptResampler::find_objects(std::string_view task) {
  std::vector<Object> objects;
  const auto add = [&](std::string_view name, std::string word, std::string category) {
    const std::size_t digits = name.find_last_not_of("0123456789");
    const bool numbered = digits != std::string_view::npos && digits + 1 < name.size() && digits > 0 &&
                          (name[digits] == '_' || name[digits] == '.');
    const std::size_t base = numbered ? digits : name.size();
    objects.push_back({std::string(name),
                       std::string(name.substr(base)),
                       {std::string(name.substr(0, base)), std::move(word)},
                       std::move(category)});
  };
  for (const std::string_view raw : split(task, "\n")) {
    const std::string_view line = trim(raw);
    if (line.starts_with("{'name': '")) {
      const std::string word(between(line, "'category': '", "'"));
      add(between(line, "{'name': '", "'"), word, abilities_of(word));
    } else if (const std::size_t id = line.find(", id: "); id != std::string_view::npos) {
      const std::size_t list = line.find('[');
      if (list != std::string_view::npos) add(line.substr(0, id), "", sorted_words(line.substr(list)));
    } else if (line.starts_with("| ") && line.ends_with("] |")) {
      const std::vector<std::string_view> cells = split(line.substr(2, line.size() - 4), " | ");
      if (cells.size() == 3) add(trim(cells[0]), "", sorted_words(trim(cells[2])));
    }
  }
  return objects;
}

PromptResampler::PromptResampler(const Module& module, const std::vector<PromptEntry>& prompts) : module_(module) {
  for (const PromptEntry& entry : prompts) {
    Source source;
    source.text = entry.prompt;
    for (const std::string_view mark : kTaskBegins) {
      const std::size_t at = source.text.rfind(mark);
      if (at != std::string::npos) source.task = std::max(source.task, at);
    }
    const std::string task = source.text.substr(source.task);
    source.objects = find_objects(task);
    for (const Object& object : source.objects) {
      if (!object.category.empty()) pool_[object.category].insert(object.kind);
    }
    own_.insert(task);
    sources_.push_back(std::move(source));
  }
}

std::optional<std::string> PromptResampler::sample(std::size_t prompt, std::uint64_t seed) const {
  const Source& source = sources_[prompt];
  internal::Random random(seed);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    // Two kinds must not become one, by their names or by the word for their class: what quantifiers range over would
    // change. For the same reason kinds that share a word stay as they are.
    std::set<std::string> used;
    std::map<std::string, std::set<std::string>> bases;  // by the word for the class
    for (const Object& object : source.objects) {
      used.insert(object.kind.base);
      if (!object.kind.word.empty()) bases[object.kind.word].insert(object.kind.base);
    }
    const auto is_free = [&](const Kind& kind) { return !used.contains(kind.base) && !bases.contains(kind.word); };
    std::map<Kind, Kind> chosen;
    std::map<std::string, std::string, std::less<>> words;
    for (const Object& object : source.objects) {
      if (object.category.empty()) continue;
      const auto sharing = bases.find(object.kind.word);
      if (sharing != bases.end() && sharing->second.size() > 1) continue;
      if (!chosen.contains(object.kind)) {
        std::vector<Kind> others;
        std::copy_if(pool_.at(object.category).begin(), pool_.at(object.category).end(), std::back_inserter(others),
                     is_free);
        const bool replace = !others.empty() && random.below(100) < kReplacedPercent;
        chosen[object.kind] = replace ? others[random.below(others.size())] : object.kind;
        used.insert(chosen[object.kind].base);
        if (!chosen[object.kind].word.empty()) bases[chosen[object.kind].word].insert(chosen[object.kind].base);
      }
      const Kind& kind = chosen[object.kind];
      if (kind == object.kind) continue;
      words[object.name] = kind.base + object.suffix;
      if (!kind.word.empty()) words[object.kind.word] = kind.word;
    }
    if (words.empty()) continue;
    const std::string task = replace_words(std::string_view(source.text).substr(source.task), words);
    if (own_.contains(task)) continue;
    std::string text = source.text.substr(0, source.task) + task;
    try {
      module_.read(text, Rules::kEnvironment);
      return text;
    } catch (const InputError&) {
      continue;
    }
  }
  return std::nullopt;
}

}  // namespace metactrl::benchmarks
