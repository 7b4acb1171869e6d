// Ids: dense numbers of different levels (a state, an action, a fact) that do not mix by accident.
//
//     enum class StateId : std::uint32_t {};                 // all there is to an id: ordered, hashable, four bytes
//     IdVector<StateId, unsigned> distance(num_states);      // one entry for each; nothing else indexes it
//     for (const StateId id : ids<StateId>(num_states)) distance[id] = 0;
//     rows.data() + index(id) * width                        // where a number is needed
//
// Costs: none; an IdVector has the memory of a vector, and looks at the size only where assertions are on.
#ifndef METACTRL_SRC_SUPPORT_IDS_H_
#define METACTRL_SRC_SUPPORT_IDS_H_

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace metactrl::internal {

template <typename Id>
requires std::is_enum_v<Id>
constexpr std::uint32_t index(Id id) {
  static_assert(std::is_same_v<std::underlying_type_t<Id>, std::uint32_t>, "an id has 32 bits");
  return static_cast<std::uint32_t>(id);
}

// The id with this number.
template <typename Id>
constexpr Id to_id(std::size_t number) {
  assert(number <= 0xffffffffU);
  return Id{static_cast<std::uint32_t>(number)};
}

// The id behind this one: where the range of one entry ends that of the next begins.
template <typename Id>
constexpr Id next_of(Id id) {
  return Id{index(id) + 1};
}

// The ids [first, end), ascending.
template <typename Id>
class IdRange {
 public:
  class Iterator {
   public:
    using value_type = Id;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    using pointer = const Id*;
    using reference = Id;
    constexpr Iterator() = default;
    constexpr explicit Iterator(std::uint32_t number) : number_(number) {}
    constexpr Id operator*() const { return Id{number_}; }
    constexpr Iterator& operator++() {
      ++number_;
      return *this;
    }
    constexpr Iterator operator++(int) { return Iterator(number_++); }
    constexpr bool operator==(const Iterator&) const = default;

   private:
    std::uint32_t number_ = 0;
  };

  constexpr IdRange(std::size_t first, std::size_t end) : first_(to_id<Id>(first)), end_(to_id<Id>(end)) {
    assert(first <= end);
  }
  constexpr Iterator begin() const { return Iterator(index(first_)); }
  constexpr Iterator end() const { return Iterator(index(end_)); }

 private:
  Id first_;
  Id end_;
};

template <typename Id>
constexpr IdRange<Id> ids(std::size_t count) {
  return {0, count};
}
template <typename Id>
constexpr IdRange<Id> ids(Id first, Id end) {
  return {index(first), index(end)};
}

// A vector with one entry per id. All of std::vector, but for the index.
template <typename Id, typename T>
class IdVector : public std::vector<T> {
 public:
  using Base = std::vector<T>;
  using Base::Base;
  IdVector() = default;
  explicit IdVector(Base entries) : Base(std::move(entries)) {}
  IdVector& operator=(std::initializer_list<T> entries) {
    Base::operator=(entries);
    return *this;
  }

  decltype(auto) operator[](Id id) {
    assert(index(id) < this->size());
    return Base::operator[](index(id));
  }
  decltype(auto) operator[](Id id) const {
    assert(index(id) < this->size());
    return Base::operator[](index(id));
  }
  bool contains(Id id) const { return index(id) < this->size(); }
  // The id of the entry that is appended next.
  Id next_id() const { return to_id<Id>(this->size()); }
  IdRange<Id> all() const { return {0, this->size()}; }
};

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_IDS_H_
