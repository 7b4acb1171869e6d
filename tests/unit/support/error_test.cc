#include "metactrl/error.h"

#include <gtest/gtest.h>

#include <string>

namespace metactrl::error_test {
namespace {

TEST(DiagnosticTest, NamesPlaceSeverityMessageAndHint) {
  const Diagnostic diagnostic{
      Diagnostic::Severity::kError, {"d.pddl", 41, 18}, "object 'wrench' is not declared", "declare it"};
  EXPECT_EQ(to_string(diagnostic), "d.pddl:41:18: error: object 'wrench' is not declared; declare it");
}

TEST(DiagnosticTest, LeavesOutWhatIsUnknown) {
  EXPECT_EQ(to_string({Diagnostic::Severity::kError, {"d.pddl", 0, 0}, "cannot be read", ""}),
            "d.pddl: error: cannot be read");
  EXPECT_EQ(to_string({Diagnostic::Severity::kWarning, {}, "odd", ""}), "warning: odd");
}

TEST(DiagnosticsTest, CountsErrorsAndWarningsApart) {
  Diagnostics diagnostics;
  EXPECT_FALSE(diagnostics.has_errors());
  diagnostics.warning({"f", 1, 1}, "a");
  EXPECT_FALSE(diagnostics.has_errors());
  diagnostics.error({"f", 2, 1}, "b");
  EXPECT_TRUE(diagnostics.has_errors());
  EXPECT_EQ(diagnostics.num_errors(), 1u);
  EXPECT_EQ(diagnostics.num_warnings(), 1u);
  ASSERT_EQ(diagnostics.items().size(), 2u);
  EXPECT_EQ(diagnostics.items()[0].severity, Diagnostic::Severity::kWarning);
  EXPECT_EQ(diagnostics.items()[1].message, "b");
}

TEST(DiagnosticsTest, KeepsABoundedListAndCountsTheRest) {
  Diagnostics diagnostics;
  for (std::size_t i = 0; i < Diagnostics::kMaxItems + 7; ++i) diagnostics.error({"f", 1, 1}, "e");
  EXPECT_EQ(diagnostics.items().size(), Diagnostics::kMaxItems);
  EXPECT_EQ(diagnostics.num_errors(), Diagnostics::kMaxItems + 7);
  EXPECT_EQ(diagnostics.num_dropped(), 7u);
}

TEST(DiagnosticsTest, ManyWarningsNeverHideTheFirstError) {
  Diagnostics diagnostics;
  for (std::size_t i = 0; i < 2 * Diagnostics::kMaxItems; ++i) diagnostics.warning({"f", 1, 1}, "w");
  diagnostics.error({"f", 9, 9}, "the error");
  EXPECT_EQ(diagnostics.items().back().message, "the error");
}

TEST(InputErrorTest, SaysEverythingOnePerLine) {
  Diagnostics diagnostics;
  diagnostics.error({"f", 1, 2}, "first");
  diagnostics.error({"f", 3, 4}, "second", "mend it");
  const InputError error(diagnostics);
  EXPECT_STREQ(error.what(), "f:1:2: error: first\nf:3:4: error: second; mend it");
  EXPECT_EQ(error.diagnostics().num_errors(), 2u);
}

TEST(InputErrorTest, SaysHowManyWereLeftOut) {
  Diagnostics diagnostics;
  for (std::size_t i = 0; i < Diagnostics::kMaxItems + 2; ++i) diagnostics.error({"f", 1, 1}, "e");
  EXPECT_NE(std::string(InputError(diagnostics).what()).find("\n(and 2 more)"), std::string::npos);
}

TEST(InputErrorTest, CanBeAboutAWholeFile) {
  EXPECT_STREQ(InputError("x.pddl", "cannot be opened").what(), "x.pddl: error: cannot be opened");
}

}  // namespace
}  // namespace metactrl::error_test
