// What an Hmm holds.
#ifndef METACTRL_SRC_HMM_HMM_DATA_H_
#define METACTRL_SRC_HMM_HMM_DATA_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "metactrl/hmm.h"

namespace metactrl {

// Do its sizes, its names and its end go together, and has every name a text? What a file says of itself need not.
bool is_consistent(const Alphabet& alphabet);

struct Hmm::Data {
  Alphabet alphabet;
  std::size_t hidden = 0;
  std::string made_by;
  std::uint64_t step = 0;
  std::span<const float> initial;
  std::span<const float> transition;
  std::span<const float> emission;
  std::shared_ptr<const void> owner;  // of what the spans show: vectors, or a mapped file

  // Throws InputError that begins with `where` unless all sizes fit and everything is a distribution.
  void check(const std::string& where) const;
};

}  // namespace metactrl

#endif  // METACTRL_SRC_HMM_HMM_DATA_H_
