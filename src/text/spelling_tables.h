// What a PlanSpelling prepares for its readers.
#ifndef METACTRL_SRC_TEXT_SPELLING_TABLES_H_
#define METACTRL_SRC_TEXT_SPELLING_TABLES_H_

#include <string>
#include <vector>

#include "metactrl/format.h"
#include "text/item_trie.h"
#include "text/template.h"

namespace metactrl {

struct PlanSpelling::Tables {
  text::ItemTrie items;                    // one per action
  std::vector<std::string> ends;           // the separators, then the closing
  std::vector<text::TemplatePart> prefix;  // the template, split
  std::string opening;                     // open and the first prefix
};

}  // namespace metactrl

#endif  // METACTRL_SRC_TEXT_SPELLING_TABLES_H_
