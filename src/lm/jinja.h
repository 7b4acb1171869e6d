// Chat templates: programs in Jinja, the template language of Python, that write a conversation as a model was trained to
// read it.
//
//     jinja::Template program("{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}");
//     jinja::Text prompt = program.render(variables);
//
// Understood is what chat templates use: expressions, filters, tests and methods of strings, lists and mappings; if,
// for, set, macro, call, filter, break, continue. Not understood: inheritance, includes, imports. Letters beyond ASCII
// have no upper case.
//
// A template comes with a model's file and is nobody's friend. What it may cost is counted: steps, bytes and depth all
// have an end, at which it throws. It reaches nothing but its variables.
#ifndef METACTRL_SRC_LM_JINJA_H_
#define METACTRL_SRC_LM_JINJA_H_

#include <string>
#include <string_view>

#include "lm/jinja_parse.h"
#include "lm/jinja_value.h"

namespace metactrl::lm::jinja {

class Template {
 public:
  // Throws Error.
  explicit Template(std::string_view source) : program_(parse_template(source)) {}

  // `today` is for strftime_now: "2026-11-18". Throws Error, also when the template itself refuses (raise_exception).
  Text render(const Dict& variables, const std::string& today) const;

 private:
  Node program_;
};

// A value written as JSON has it, or as Jinja. Its strings are marked as a user's. Throws Error.
Value value_from_json(std::string_view json);

}  // namespace metactrl::lm::jinja

#endif  // METACTRL_SRC_LM_JINJA_H_
