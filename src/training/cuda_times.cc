// An event is recorded where a part begins; the part's time is that until the next event.
#include "training/cuda_times.h"

#include <algorithm>
#include <cstring>

#include "hmm/cuda_memory.h"

namespace metactrl::training {

using hmm::check;

PartTimes::~PartTimes() {
  for (const Mark& mark : marks_) cudaEventDestroy(mark.event);
  for (cudaEvent_t event : unused_) cudaEventDestroy(event);
}

cudaEvent_t PartTimes::new_event() {
  cudaEvent_t event = nullptr;
  if (unused_.empty()) {
    check(cudaEventCreate(&event));
  } else {
    event = unused_.back();
    unused_.pop_back();
  }
  return event;
}

void PartTimes::begin(const PartTime& part) {
  marks_.push_back({part, new_event()});
  check(cudaEventRecord(marks_.back().event));
}

std::vector<PartTime> PartTimes::read() {
  check(cudaDeviceSynchronize());
  std::vector<PartTime> parts;
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    const Mark& mark = marks_[i];
    unused_.push_back(mark.event);
    if (mark.part.name == nullptr || i + 1 == marks_.size()) continue;
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, mark.event, marks_[i + 1].event));
    auto found = std::find_if(parts.begin(), parts.end(),
                              [&](const PartTime& part) { return std::strcmp(part.name, mark.part.name) == 0; });
    if (found == parts.end()) found = parts.insert(parts.end(), PartTime{mark.part.name, 0, 0, 0, mark.part.type});
    found->milliseconds += static_cast<double>(milliseconds);
    found->operations += mark.part.operations;
    found->bytes += mark.part.bytes;
  }
  marks_.clear();
  return parts;
}

}  // namespace metactrl::training
