// Certificates and what scripts/check_certificate says about each, all of them in one process.
//
//     Court court;
//     court.add(text, certificate.text, true, "plans");
//     court.judge();   // fails for each that is genuine and not accepted, or is not and not rejected
#ifndef METACTRL_TESTS_SUPPORT_CERTIFICATE_COURT_H_
#define METACTRL_TESTS_SUPPORT_CERTIFICATE_COURT_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/child_process.h"
#include "support/random_pddl.h"
#include "support/test_data.h"

namespace metactrl::testing {

class Court {
 public:
  using Json = nlohmann::ordered_json;

  void add(const PddlText& task, const std::string& certificate, bool genuine, const std::string& what) {
    // Bytes are cut, too: where that makes them no text, the checker gets what JSON makes of them.
    lines_ += Json{{"domain", task.domain}, {"problem", task.problem}, {"certificate", certificate}}.dump(
                  -1, ' ', false, Json::error_handler_t::replace) +
              "\n";
    cases_.push_back({genuine, what});
    ++counts_[what];
  }
  void add(const PddlText& task, const Json& certificate, bool genuine, const std::string& what) {
    add(task, certificate.dump(), genuine, what);
  }

  void judge() {
    const std::vector<std::string> answers = ask();
    std::size_t line = 0;
    ASSERT_EQ(answers.size(), cases_.size());
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const std::size_t line_end = lines_.find('\n', line);
      EXPECT_TRUE(answers[i].starts_with(cases_[i].genuine ? "accepted: " : "rejected: "))
          << cases_[i].what << ": " << answers[i] << "\n"
          << (++failures_ <= 3 ? lines_.substr(line, line_end - line) : "");
      line = line_end + 1;
    }
  }

  // Of each that is rejected, what it was called.
  std::vector<std::string> rejected() const {
    const std::vector<std::string> answers = ask();
    EXPECT_EQ(answers.size(), cases_.size());
    std::vector<std::string> result;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (answers[i].starts_with("rejected: ")) result.push_back(cases_[i].what);
    }
    return result;
  }

  std::size_t count(const std::string& what) const {
    const auto found = counts_.find(what);
    return found == counts_.end() ? 0 : found->second;
  }
  std::size_t count(bool genuine) const {
    return static_cast<std::size_t>(
        std::count_if(cases_.begin(), cases_.end(), [&](const Case& one) { return one.genuine == genuine; }));
  }
  void report() const {
    std::cout << count(true) << " genuine, " << count(false) << " tampered:";
    for (const auto& [what, count] : counts_) std::cout << "\n  " << count << " " << what;
    std::cout << "\n";
  }

 private:
  struct Case {
    bool genuine;
    std::string what;
  };

  // A line for each case.
  std::vector<std::string> ask() const {
    std::string text;
    internal::ChildOptions options;
    options.out = [&](std::string_view piece) { text += piece; };
    options.in = lines_;
    const internal::ChildResult result =
        internal::run_child({"python3", (source_dir() / "scripts/check_certificate").string(), "--batch"}, options);
    EXPECT_EQ(result.code, 0) << result.errors;
    std::vector<std::string> answers;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      answers.push_back(text.substr(begin, end - begin));
      begin = end == std::string::npos ? text.size() : end + 1;
    }
    return answers;
  }

  std::string lines_;
  std::vector<Case> cases_;
  std::map<std::string, std::size_t> counts_;
  int failures_ = 0;
};

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_CERTIFICATE_COURT_H_
