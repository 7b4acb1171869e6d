// Ids from their numbers.
//
//     EXPECT_EQ(space.shortest_plan(id), id_list<ActionId>({0, 1, 2}));
#ifndef METACTRL_TESTS_SUPPORT_ID_LIST_H_
#define METACTRL_TESTS_SUPPORT_ID_LIST_H_

#include <cstdint>
#include <vector>

namespace metactrl::testing {

template <typename Id>
std::vector<Id> id_list(const std::vector<std::uint32_t>& numbers) {
  std::vector<Id> ids;
  ids.reserve(numbers.size());
  for (const std::uint32_t number : numbers) ids.push_back(Id{number});
  return ids;
}

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_ID_LIST_H_
