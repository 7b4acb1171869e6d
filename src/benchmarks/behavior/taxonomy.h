// The BDDL object taxonomy: which abilities a class of objects has, and which classes it belongs to.
//
//     const Taxonomy& taxonomy = Taxonomy::builtin();
//     const Taxonomy::Class* fridge = taxonomy.of_category("fridge");
//     fridge->evaluator.contains("openable");   // the abilities the evaluator goes by
//
// There are two versions of the abilities: those of the whole taxonomy, and those of the part with objects in the
// simulator, which the evaluator uses and which differ for two classes of three. The text is
// domains/behavior-actions/taxonomy.tsv, a part of the library.
//
// Cost: the built-in taxonomy is read once, in some milliseconds. Immutable; may be used from many threads.
#ifndef METACTRL_SRC_BENCHMARKS_BEHAVIOR_TAXONOMY_H_
#define METACTRL_SRC_BENCHMARKS_BEHAVIOR_TAXONOMY_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace metactrl::benchmarks::behavior {

class Taxonomy {
 public:
  using Abilities = std::set<std::string, std::less<>>;
  struct Class {
    std::string synset;  // "electric_refrigerator.n.01"
    std::vector<std::string> parents;
    Abilities all;        // by the whole taxonomy
    Abilities evaluator;  // by the evaluator's part
    bool in_evaluator = false;
  };

  // Throws InputError with the line when the text is not of the five columns.
  explicit Taxonomy(std::string_view text);
  static const Taxonomy& builtin();

  // Null when there is none.
  const Class* of_synset(std::string_view synset) const;
  // The evaluator's class for objects of a category of the simulator ("fridge").
  const Class* of_category(std::string_view category) const;
  // Whether `synset` is `ancestor` or below it.
  bool is_a(std::string_view synset, std::string_view ancestor) const;

 private:
  std::map<std::string, Class, std::less<>> classes_;
  std::map<std::string, std::string, std::less<>> synset_of_category_;
};

}  // namespace metactrl::benchmarks::behavior

#endif  // METACTRL_SRC_BENCHMARKS_BEHAVIOR_TAXONOMY_H_
