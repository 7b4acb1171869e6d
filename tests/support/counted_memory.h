// Every allocation of a program counted, and one of them failed, if asked; with it, those of destructors while the stack is
// unwound, where nobody could catch that. A program that lists counted_memory.cc among its
// sources has its operator new; sanitizers bring their own, so such a program is not built with them.
#ifndef METACTRL_TESTS_SUPPORT_COUNTED_MEMORY_H_
#define METACTRL_TESTS_SUPPORT_COUNTED_MEMORY_H_

#include <atomic>
#include <cstddef>

namespace metactrl::testing {

extern std::atomic<std::size_t> g_allocations;       // so far
extern std::atomic<std::size_t> g_allocations_left;  // until the one that fails; 0: none does
extern std::atomic<bool> g_allocation_failed;        // by g_allocations_left

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_COUNTED_MEMORY_H_
