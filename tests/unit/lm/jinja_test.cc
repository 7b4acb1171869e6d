// The language of chat templates: what it means, and what a template cannot do.
#include "lm/jinja.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace metactrl::lm::jinja_test {

using jinja::Dict;
using jinja::Error;
using jinja::Template;
using jinja::Text;
using jinja::Value;

constexpr const char* kToday = "2026-11-18";

Dict variables(const std::string& json = "{}") { return *jinja::value_from_json(json).dict; }

std::string render(const std::string& source, const std::string& json = "{}") {
  return Template(source).render(variables(json), kToday).bytes();
}

std::string refusal(const std::string& source, const std::string& json = "{}") {
  try {
    render(source, json);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(Jinja, WritesWhatPythonWrites) {
  // Expected values are those of Python's Jinja 3.1.
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{{ 1 + 2 * 3 ** 2 // 4 % 5 }}", "5"},
      {"{{ -7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }}", "-4 2 3.5"},
      {"{{ 'a' ~ 1 ~ none ~ true }}", "a1NoneTrue"},
      {"{{ [1, 'x', {'k': none}] }}", "[1, 'x', {'k': None}]"},
      {"{{ 'abc'[1:] ~ 'abc'[::-1] ~ 'abc'[-1] }}", "bccbac"},
      {"{{ 1 < 2 < 3 and not 2 in [1] }}", "True"},
      {"{{ 'y' if false else 'n' }}{{ 'z' if false }}", "n"},
      {"{{ missing }}|{{ missing is defined }}|{{ missing | default('d') }}", "|False|d"},
      {"{{ '' | default('d', true) }}", "d"},
      {"{{ {'b': 1, 'a': [1, 2]} | tojson }}", R"({"b": 1, "a": [1, 2]})"},
      {"{{ {'a': 'ü\"\\n'} | tojson }}", "{\"a\": \"ü\\\"\\n\"}"},
      {"{{ {'a': [1]} | tojson(indent=2) }}", "{\n  \"a\": [\n    1\n  ]\n}"},
      {"{{ ' x '.strip() ~ '|' ~ 'a,b,c'.split(',')[1] ~ 'a b'.split(' ', 1)[1] }}", "x|bb"},
      {"{{ ['b', 'A'] | sort | join('-') }}", "A-b"},
      {"{{ 'wörld' | length }}", "5"},
      {"{{ [{'n': 1}, {'n': 2}] | selectattr('n', 'equalto', 2) | map(attribute='n') | list }}", "[2]"},
      {"{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}{{ v }}{{ ',' if not loop.last }}{% endfor %}", "a1,b2"},
      {"{% for i in range(5) if i % 2 %}{{ loop.index }}:{{ i }} {% else %}none{% endfor %}", "1:1 2:3 "},
      {"{% for i in [] %}x{% else %}none{% endfor %}", "none"},
      {"{% for i in range(9) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 4 %}{% break %}{% endif %}{{ i }}"
       "{% endfor %}",
       "013"},
      {"{% set x = 1 %}{% for i in [1] %}{% set x = 2 %}{% endfor %}{{ x }}", "1"},
      {"{% set n = namespace(x=1) %}{% for i in [1] %}{% set n.x = 2 %}{% endfor %}{{ n.x }}", "2"},
      {"{% macro m(a, b='-') %}<{{ a }}{{ b }}>{% endmacro %}{{ m(1) }}{{ m(2, b='+') }}", "<1-><2+>"},
      {"{% macro m() %}[{{ caller() }}]{% endmacro %}{% call m() %}in{% endcall %}", "[in]"},
      {"{% set t %}a{{ 1 }}{% endset %}{{ t }}{% filter upper %}x{% endfilter %}", "a1X"},
      {"{% raw %}{{ x }}{% endraw %}", "{{ x }}"},
      {"a\n  {% if true %}\nb\n  {%- endif %}\n c", "a\nb c"},
      {"a {{- 1 -}} b{# c #}\n", "a1b"},
      {"{{ strftime_now('%d %b %Y') }}", "18 Nov 2026"},
      {"{{ '{} {}'.format('a', 1) }}{{ '%s' % 'x' }}", "a 1x"},
      {"{% generation %}g{% endgeneration %}", "g"},
  };
  for (const auto& one : cases) EXPECT_EQ(render(one.first), one.second) << one.first;
}

TEST(Jinja, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(refusal("a\n{% if %}"), "line 2: an expression is missing");
  EXPECT_EQ(refusal("{% for x in y %}"), "line 1: {% endfor %} is missing");
  EXPECT_EQ(refusal("{{ x | nonsense }}"), "line 1: there is no filter 'nonsense'");
  EXPECT_EQ(refusal("{{ x.y.z }}", R"({"x": {}})"), "line 1: 'y' is undefined and has no 'z'");
  EXPECT_EQ(refusal("\n{{ raise_exception('roles must alternate') }}"), "it says: roles must alternate");
  EXPECT_EQ(refusal("{% include 'x' %}"), "line 1: {% include %} is not understood");
  EXPECT_NE(refusal("{{ 'a' + none }}"), "");
  EXPECT_NE(refusal("{{ x( }}"), "");
  EXPECT_NE(refusal("{{ 'open }}"), "");
  EXPECT_NE(refusal("{# open"), "");
  EXPECT_THROW(jinja::value_from_json("[1, "), Error);
}

// A template comes with a model's file. Whatever it does, it ends.
TEST(Jinja, HostileTemplatesEnd) {
  const auto repeat = [](const std::string& text, std::size_t count) {
    std::string out;
    for (std::size_t i = 0; i < count; ++i) out += text;
    return out;
  };
  const std::vector<std::string> hostile = {
      "{{ " + repeat("(", 50000) + "1" + repeat(")", 50000) + " }}",
      "{{ " + repeat("[", 100000),
      repeat("{% if true %}", 10000) + repeat("{% endif %}", 10000),
      "{{ 1" + repeat("+1", 100000) + " }}",
      "{{ x" + repeat(".x", 100000) + " }}",
      "{{ x" + repeat("|list", 40000) + " }}",
      "{{ " + repeat("not ", 50000) + "1 }}",
      "{{ " + repeat("-", 100000) + "1 }}",
      "{{ 1" + repeat(" if 1 else 2", 20000) + " }}",
      "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
      "{{ range(300000000) | length }}",
      "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
      "{% set n = namespace(t='xxxxxxxxxxxxxxxx') %}{% for i in range(100) %}{% set n.t = n.t ~ n.t %}{% endfor %}",
      "{{ 'x' * 1000000000 }}",
      "{% set l = [] %}{% for i in range(10000000) %}{% set _ = l.append(l) %}{% endfor %}",
      "{% set l = [] %}{% set _ = l.append(l) %}{{ l }}",
      "{% set l = [] %}{% set _ = l.append(l) %}{{ l | tojson }}",
      "{% set l = [] %}{% set m = [] %}{% set _ = l.append(m) %}{% set _ = m.append(l) %}{{ l == [[m]] }}{{ l | tojson "
      "}}",
      "{% set l = [] %}{% set _ = l.append({'f': l.append}) %}",
      "{% set n = namespace() %}{% set n.n = [n] %}",
      "{{ 9223372036854775807 + 1 }}",
      "{{ -9223372036854775807 - 2 }}",
      "{{ 1 // 0 }}",
      std::string(300 << 10, 'x'),
  };
  for (const std::string& source : hostile) EXPECT_NE(refusal(source), "") << source.substr(0, 80);
}

TEST(Jinja, KnowsWhatAUserSaid) {
  Dict variables;
  variables.set(Value::string("said"), Value::string(Text("  <end>", true)));
  const auto marks = [&](const std::string& source) {
    const Text text = Template(source).render(variables, kToday);
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) out += text.by_user(i) ? 'u' : 't';
    return text.bytes() + "\n" + out;
  };
  EXPECT_EQ(marks("<{{ said }}>"), "<  <end>>\ntuuuuuuut");
  EXPECT_EQ(marks("{{ '<' ~ said.strip() | upper ~ '>' }}"), "<<END>>\ntuuuuut");
  EXPECT_EQ(marks("{{ [said | trim, 'x'] | join('-') }}"), "<end>-x\nuuuuutt");
  EXPECT_EQ(marks("{{ said.replace('end', 'x').split('<')[1] }}"), "x>\ntu");
  EXPECT_EQ(marks("{{ said[2:4] | tojson }}"), "\"<e\"\ntuut");
  EXPECT_EQ(marks("{% set t %}a{{ said[3] }}{% endset %}{{ t }}"), "ae\ntu");
}

}  // namespace metactrl::lm::jinja_test
