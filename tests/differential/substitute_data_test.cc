// New prompts from the benchmarks' own: most prompts have others like them, none of them is one of the benchmark's,
// and each states a task with as many objects and goals as the one that it came from.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "benchmarks/files.h"
#include "benchmarks/substitute.h"
#include "metactrl/domain.h"
#include "support/test_data.h"

namespace metactrl::benchmarks::substitute_data_test {
namespace {

using ::metactrl::testing::data_path;
using ::metactrl::testing::Extent;

struct Source {
  const char* module;
  const char* file;
};

class SubstituteData : public ::testing::TestWithParam<std::tuple<Source, Extent>> {};

Task task_of(const Module& module, const std::string& prompt) {
  const PromptTask read = module.read(prompt, Rules::kEnvironment);
  return load_pddl_text(domain_text(module, Rules::kEnvironment), read.problem_assuming(read.assumptions.size()));
}

TEST_P(SubstituteData, PromptsHaveOthersLikeThem) {
  const auto [source, extent] = GetParam();
  METACTRL_NEEDS_EXTENT(extent, source.file);
  const Module& module = *find_module(source.module);
  const std::vector<PromptEntry> prompts = read_prompts(data_path(source.file, extent).string());
  std::set<std::string> own;
  for (const PromptEntry& entry : prompts) own.insert(entry.prompt);
  const PromptResampler resampler(module, prompts);
  constexpr std::size_t kLooked = 25;
  const std::size_t stride = std::max<std::size_t>(1, prompts.size() / kLooked);
  std::size_t looked = 0;
  std::size_t made = 0;
  std::set<std::string> distinct;
  for (std::size_t i = 0; i < prompts.size(); i += stride) {
    ++looked;
    const std::optional<std::string> text = resampler.sample(i, 17 + i);
    if (!text) continue;
    ++made;
    distinct.insert(*text);
    EXPECT_FALSE(own.contains(*text)) << prompts[i].identifier;
    if (made > 8) continue;  // grounding takes its time
    const Task before = task_of(module, prompts[i].prompt);
    const Task after = task_of(module, *text);
    EXPECT_EQ(before.num_goals(), after.num_goals()) << prompts[i].identifier;
    EXPECT_EQ(before.num_objects(), after.num_objects()) << prompts[i].identifier;
  }
  EXPECT_GE(made * 2, looked);  // VirtualHome has many objects that are alone in their category
  EXPECT_EQ(distinct.size(), made);
}

INSTANTIATE_TEST_SUITE_P(All, SubstituteData,
                         ::testing::Combine(::testing::Values(Source{"vh-as", "eai_vh/as_prompts.json"},
                                                              Source{"vh-sd", "eai_vh/sd_prompts.json"},
                                                              Source{"beh-as", "eai_beh/as_prompts.json"},
                                                              Source{"beh-sd", "eai_beh/sd_prompts.json"}),
                                            ::testing::ValuesIn(testing::kExtents)),
                         [](const auto& info) {
                           std::string name = std::get<0>(info.param).module;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name + "_" + to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace metactrl::benchmarks::substitute_data_test
