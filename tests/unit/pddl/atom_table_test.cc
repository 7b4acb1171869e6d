#include "pddl/atom_table.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "support/random.h"

namespace metactrl::pddl::atom_table_test {
namespace {

// Names with few of the tuples that there could be and names with many, of no object to three.
TEST(AtomTable, FindsWhatWasInserted) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    testing::Random random(seed);
    const std::size_t objects = 1 + random.below(seed % 2 == 0 ? 12 : 90);
    AtomTable table(seed % 5 == 0 ? 0 : objects);  // 0: without arrays
    std::map<std::pair<PredicateId, std::vector<ObjectId>>, AtomId> expected;
    const auto draw = [&] {
      const PredicateId name{random.below(8)};
      std::vector<ObjectId> arguments(index(name) % 4);
      for (ObjectId& argument : arguments) argument = ObjectId{random.below(objects)};
      return std::pair(name, arguments);
    };
    for (int i = 0; i < 3000; ++i) {
      const auto tuple = draw();
      const auto known = expected.find(tuple);
      const auto [id, is_new] = table.insert(tuple.first, tuple.second);
      ASSERT_EQ(is_new, known == expected.end());
      if (is_new) {
        ASSERT_EQ(index(id), expected.size());
        expected[tuple] = id;
      } else {
        ASSERT_EQ(id, known->second);
      }
      const auto other = draw();
      const auto found = table.find(other.first, other.second);
      const auto there = expected.find(other);
      ASSERT_EQ(found.has_value(), there != expected.end());
      if (found) {
        ASSERT_EQ(*found, there->second);
      }
    }
    ASSERT_EQ(table.size(), expected.size());
    for (const auto& [tuple, id] : expected) {
      ASSERT_EQ(table.name(id), tuple.first);
      ASSERT_EQ(std::vector(table.arguments(id).begin(), table.arguments(id).end()), tuple.second);
    }
  }
}

}  // namespace
}  // namespace metactrl::pddl::atom_table_test
