// Declarations: what is read, and what is said about mistakes.
#include "metactrl/format.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "metactrl/error.h"
#include "support/test_data.h"
#include "text/quote.h"
#include "text/template.h"

namespace metactrl::format_test {
namespace {

std::string errors_of(std::string_view text) {
  try {
    PlanFormat::parse(text, "my.format");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

// A declaration that is complete but for `lines`.
std::string errors_with(const std::string& lines) {
  return errors_of("item: \"{action}\"\nseparator: \",\"\nclose: \".\"\n" + lines);
}

TEST(Format, ReadsEveryKey) {
  const PlanFormat format = PlanFormat::parse(
      "# a comment\r\n"
      "name: \"mine\"\r\n"
      "open: \"[\"   # another\n"
      "close:\"]\"\n"
      "  separator: \", \"\n"
      "separator: \" # \"\n"
      "empty: \"nothing\\n\\t\\\"\\\\\\r\"\n"
      "prefix: \"{index}) \"\n"
      "item: \"{action} {arguments}\"\n"
      "item /0: \"{action}!\"\n"
      "item pick-up : \"pick up the {1}\"\n"
      "object a: \"red block\"\n"
      "object \"odd: name\": \"b\"\n"
      "action putin: \"PUTIN\"\n"
      "argument: \"<{name}|{id}>\"\n"
      "argument-separator: \" \"\n"
      "id-separator: \".\"\n"
      "case: upper\n"
      "hyphen: \"_\"\n"
      "escape: json\n"
      "\n",
      "folder/my.format");
  EXPECT_EQ(format.name, "mine");
  EXPECT_EQ(format.open, "[");
  EXPECT_EQ(format.close, "]");
  EXPECT_EQ(format.separators, (std::vector<std::string>{", ", " # "}));
  EXPECT_EQ(format.empty, "nothing\n\t\"\\\r");
  EXPECT_EQ(format.prefix, "{index}) ");
  EXPECT_EQ(format.items, (std::map<std::string, std::string>{
                              {"*", "{action} {arguments}"}, {"/0", "{action}!"}, {"pick-up", "pick up the {1}"}}));
  EXPECT_EQ(format.object_names, (std::map<std::string, std::string>{{"a", "red block"}, {"odd: name", "b"}}));
  EXPECT_EQ(format.action_names, (std::map<std::string, std::string>{{"putin", "PUTIN"}}));
  EXPECT_EQ(format.argument, "<{name}|{id}>");
  EXPECT_EQ(format.argument_separator, " ");
  EXPECT_EQ(format.id_separator, ".");
  EXPECT_EQ(format.action_case, PlanFormat::Case::kUpper);
  EXPECT_EQ(format.hyphen, "_");
  EXPECT_EQ(format.escape, PlanFormat::Escape::kJson);
}

TEST(Format, HasDefaults) {
  const PlanFormat format =
      PlanFormat::parse("\xef\xbb\xbfopen: \"<\"\nitem: \"{action}\"\nseparator: \",\"\nclose: \".\"", "a/b/my.format");
  EXPECT_EQ(format.name, "my");
  EXPECT_EQ(format.empty, "<.");
  EXPECT_EQ(format.prefix, "");
  EXPECT_EQ(format.argument, "{object}");
  EXPECT_EQ(format.argument_separator, ", ");
  EXPECT_EQ(format.hyphen, "-");
  EXPECT_EQ(format.action_case, PlanFormat::Case::kAsIs);
  EXPECT_EQ(format.escape, PlanFormat::Escape::kNone);
}

TEST(Format, NamesTheWrongKey) {
  EXPECT_EQ(errors_with("seperator: \";\"\n"),
            "my.format:4:1: error: there is no key 'seperator'; did you mean 'separator'?");
  EXPECT_NE(errors_with("  xyzzy: \";\"\n").find("my.format:4:3: error: there is no key 'xyzzy'; known: name, open"),
            std::string::npos);
  EXPECT_EQ(errors_with("open x: \"[\"\n"), "my.format:4:6: error: 'open' takes no name; write  open: ...");
  EXPECT_EQ(errors_with("object: \"[\"\n"), "my.format:4:7: error: which object?; write  object NAME: \"text\"");
}

TEST(Format, NamesTheWrongLine) {
  EXPECT_EQ(errors_with("open \"[\"\n"),
            "my.format:4:9: error: expected ':' after 'open'; a line is  key: \"value\"  or  key name: \"value\"");
  EXPECT_EQ(errors_with("open:\n"), "my.format:4:6: error: the value is missing; write it in double quotes");
  EXPECT_EQ(errors_with("open: # [\n"), "my.format:4:7: error: the value is missing; write it in double quotes");
  EXPECT_EQ(errors_with("open: [\n"),
            "my.format:4:7: error: the value of 'open' is not in quotes; write it in double quotes");
  EXPECT_EQ(errors_with("open: \"[\n"),
            "my.format:4:7: error: the string does not end; close it with '\"' on the same line; write a line break as "
            "\\n");
  EXPECT_EQ(errors_with("open: \"[\\q\"\n"), "my.format:4:9: error: unknown escape; known: \\n \\t \\r \\\" \\\\");
  EXPECT_NE(errors_with("open: \"[\\").find("4:9: error: unknown escape"), std::string::npos);
  EXPECT_EQ(errors_with("open: \"[\" \"]\"\n"),
            "my.format:4:11: error: something follows the value; write values in double quotes and comments behind a "
            "'#'");
  EXPECT_EQ(errors_with("open: \"[\"\nopen: \"(\"\n"),
            "my.format:5:1: error: 'open' was stated before, on line 4; keep one of them");
  EXPECT_EQ(errors_with("item: \"{action}\"\n"),
            "my.format:4:1: error: 'item *' was stated before, on line 1; keep one of them");
  EXPECT_EQ(errors_with("case: uper\n"), "my.format:4:7: error: 'uper' is no value of 'case'; did you mean 'upper'?");
  EXPECT_EQ(errors_with("escape: xml\n"), "my.format:4:9: error: 'xml' is no value of 'escape'; known: none, json");
}

TEST(Format, NamesThePlaceInsideAString) {
  EXPECT_EQ(
      errors_with("item go: \"\\\"{acton}\\\"\"\n"),
      "my.format:4:13: error: there is no {acton} here; did you mean 'action'? known: {action}, {arguments}, {1}, "
      "{2} ..., {duration}, {cost}; for a brace itself write {{");
  EXPECT_EQ(errors_with("item /1: \"{1} {2}\"\n"),
            "my.format:4:15: error: {2} does not exist: the line is for actions with 1 argument; use a smaller number, "
            "or correct the one behind the '/'");
  EXPECT_EQ(errors_with("item /1: \"{0}\"\n"),
            "my.format:4:11: error: {0} is no argument; arguments are {1}, {2} and so on");
  EXPECT_NE(errors_with("item: \"\"\n").find("stated before"), std::string::npos);
  EXPECT_NE(errors_with("item go: \"{99999999999999999999999}\"\n").find("is no argument"), std::string::npos);
  EXPECT_EQ(errors_with("item /01: \"x\"\n"),
            "my.format:4:12: error: '/01' is not a number of arguments; write /0, /1, /2 ...");
  EXPECT_NE(errors_with("prefix: \"{number}\"\n").find("4:10: error: there is no {number} here; known: {index}"),
            std::string::npos);
  EXPECT_EQ(errors_with("argument: \"{name}\"\n"),
            "my.format:4:12: error: {name} needs to know where an object's name ends; add a line like  id-separator: "
            "\"_\"");
  EXPECT_EQ(errors_with("argument: \"x\"\n"),
            "my.format:4:12: error: all arguments would be written alike; use {object}, or {name} and {id}, in the "
            "argument's template");
  EXPECT_NE(errors_with("object A: \"x\"\nobject a: \"y\"\n").find("'a' and 'A' are the same name"), std::string::npos);
}

TEST(Format, NeedsItemSeparatorAndClosing) {
  EXPECT_EQ(
      errors_of(""),
      "my.format: error: the format has no closing; add a line like  close: \".\"  or, if only the end of the text "
      "ends a plan,  close: \"\"\n"
      "my.format: error: the format has no separator; add a line like  separator: \", \"\n"
      "my.format: error: the format has no item; add a line like  item: \"({action} {arguments})\"");
  EXPECT_NE(errors_with("separator: \"\"\n").find("my.format:4:12: error: a separator is empty"), std::string::npos);
}

TEST(Format, TellsSeparatorsAndClosingApart) {
  EXPECT_EQ(
      errors_with("separator: \",\"\n"),
      "my.format:4:13: error: the separator \",\" and the separator \",\" are the same; a reader could not tell them "
      "apart; choose texts that differ before either ends");
  EXPECT_EQ(
      errors_with("separator: \".\\n\"\n"),
      "my.format:3:9: error: the closing \".\" and the separator \".\\n\": one is the beginning of the other; a reader "
      "could not tell whether the plan goes on; choose texts that differ before either ends");
}

TEST(Format, ReportsEveryMistake) {
  try {
    PlanFormat::parse("opn: \"\"\nclose: \"\nitem: {action}\n", "f");
    FAIL() << "three mistakes were accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.diagnostics().num_errors(), 3U);
  }
}

TEST(Format, LoadsAFile) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("metactrl_format_test_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "own.format").string();
  std::ofstream(file) << "item: \"{action}\"\nseparator: \",\"\nclose: \".\"\n";
  EXPECT_EQ(PlanFormat::load(file).name, "own");
  EXPECT_THROW(PlanFormat::load((folder / "none.format").string()), InputError);
  std::filesystem::remove_all(folder);
}

TEST(Format, BuiltinsAreTheFilesInDomains) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(testing::source_dir() / "domains" / "formats"))
    files.push_back(entry.path().stem().string());
  std::sort(files.begin(), files.end());
  EXPECT_EQ(PlanFormat::builtin_names(), files);
  for (const std::string& name : files) {
    std::ifstream in(testing::source_dir() / "domains" / "formats" / (name + ".format"));
    std::stringstream text;
    text << in.rdbuf();
    EXPECT_EQ(PlanFormat::builtin_text(name), text.str());
    EXPECT_EQ(PlanFormat::builtin(name).name, name);
  }
}

TEST(Format, UnknownBuiltin) {
  try {
    PlanFormat::builtin("sentence");
    FAIL() << "'sentence' is not a format";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "error: there is no plan format 'sentence'; did you mean 'sentences'? known: behavior-actions "
                 "behavior-subgoals json pddl sentences virtualhome-actions virtualhome-subgoals");
  }
}

std::string shown(std::string_view text) {
  std::string out;
  for (const text::TemplatePart& part : text::split_template(text))
    out += part.placeholder ? "<" + part.text + ">" : "'" + part.text + "'";
  return out;
}

TEST(Template, Splits) {
  EXPECT_EQ(shown(""), "");
  EXPECT_EQ(shown("a{b}c"), "'a'<b>'c'");
  EXPECT_EQ(shown("{a}{1}"), "<a><1>");
  EXPECT_EQ(shown("{{a}"), "'{a}'");
  EXPECT_EQ(shown("{\"a\": {a}}"), "'{\"a\": '<a>'}'");
  EXPECT_EQ(shown("{{{a}"), "'{'<a>");
  EXPECT_EQ(shown("{} { a} {a"), "'{} { a} {a'");
  EXPECT_EQ(shown("{"), "'{'");
}

TEST(Quote, IsOneLineAndWholeCharacters) {
  EXPECT_EQ(text::quote("a\n\"\\\x01"), "\"a\\n\\\"\\\\\\x01\"");
  EXPECT_EQ(text::quote("abcdef", 3), "\"abc\"...");
  EXPECT_EQ(text::quote("ab\xc3\xa4", 3), "\"ab\"...");
  EXPECT_EQ(text::quote("\x80\x80\x80\x80\x80\x80\x80\x80", 5).back(), '.');
}

TEST(Quote, WhatIsPrintableOnlyShows) {
  EXPECT_EQ(text::printable("plain \"text\" \\"), "plain \"text\" \\");
  EXPECT_EQ(text::printable("a\r\n\t\x1b[2J\x7f"), "a\\r\\n\\t\\x1b[2J\\x7f");
  const std::string kept = "\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80";
  EXPECT_EQ(text::printable(kept), kept);
  EXPECT_EQ(text::printable("\xc2\x9b"), "\\xc2\\x9b");                      // a control character, U+009B
  EXPECT_EQ(text::printable("\xe2\x80\xae"), "\\xe2\\x80\\xae");             // from right to left, U+202E
  EXPECT_EQ(text::printable("\xc3(\xff\xe2\x82"), "\\xc3(\\xff\\xe2\\x82");  // no UTF-8
  EXPECT_EQ(text::printable("\xc0\x8a"), "\\xc0\\x8a");                      // a line feed in too many bytes
  EXPECT_EQ(text::printable("abc\ndef", 4), "abc\\n...");
}

}  // namespace
}  // namespace metactrl::format_test
