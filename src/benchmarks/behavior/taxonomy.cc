// One line per class, five columns separated by tabs: synset, parents, abilities, abilities in the evaluator's version
// ("-": it does not have the class), categories of the simulator. Lists are separated by commas.
#include "benchmarks/behavior/taxonomy.h"

#include <utility>

#include "benchmarks/shipped_files.h"
#include "metactrl/error.h"
#include "support/words.h"

namespace metactrl::benchmarks::behavior {

namespace {

std::vector<std::string> split_list(std::string_view text) {
  if (text.empty()) return {};
  const std::vector<std::string_view> parts = split(text, ",");
  return {parts.begin(), parts.end()};
}

Taxonomy::Abilities abilities(std::string_view text) {
  const std::vector<std::string> list = split_list(text);
  return {list.begin(), list.end()};
}

}  // namespace

Taxonomy::Taxonomy(std::string_view text) {
  std::size_t number = 0;
  for (const std::string_view line : split(text, "\n")) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string_view> columns = split(line, "\t");
    if (columns.size() != 5) {
      throw InputError("taxonomy.tsv", str_cat("line ", number, " has ", columns.size(), " columns, not 5"));
    }
    Class entry;
    entry.synset = columns[0];
    entry.parents = split_list(columns[1]);
    entry.all = abilities(columns[2]);
    entry.in_evaluator = columns[3] != "-";
    if (entry.in_evaluator) entry.evaluator = abilities(columns[3]);
    for (const std::string& category : split_list(columns[4])) {
      // A category of two classes belongs to the one the evaluator knows.
      const auto [it, fresh] = synset_of_category_.emplace(category, entry.synset);
      if (!fresh && entry.in_evaluator) it->second = entry.synset;
    }
    classes_.emplace(entry.synset, std::move(entry));
  }
}

const Taxonomy& Taxonomy::builtin() {
  static const Taxonomy kTaxonomy(shipped_file("behavior-actions/taxonomy.tsv"));
  return kTaxonomy;
}

const Taxonomy::Class* Taxonomy::of_synset(std::string_view synset) const {
  const auto it = classes_.find(synset);
  return it == classes_.end() ? nullptr : &it->second;
}

const Taxonomy::Class* Taxonomy::of_category(std::string_view category) const {
  const auto it = synset_of_category_.find(category);
  return it == synset_of_category_.end() ? nullptr : of_synset(it->second);
}

bool Taxonomy::is_a(std::string_view synset, std::string_view ancestor) const {
  std::set<std::string, std::less<>> seen;
  std::vector<std::string> open{std::string(synset)};
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    if (name == ancestor) return true;
    if (!seen.insert(name).second) continue;
    if (const Class* entry = of_synset(name)) open.insert(open.end(), entry->parents.begin(), entry->parents.end());
  }
  return false;
}

}  // namespace metactrl::benchmarks::behavior
