#include "support/counted_memory.h"

#include <cstdlib>
#include <exception>
#include <new>

namespace metactrl::testing {

std::atomic<std::size_t> g_allocations{0};
std::atomic<std::size_t> g_allocations_left{0};
std::atomic<bool> g_allocation_failed{false};

namespace {

bool fails() {
  ++g_allocations;
  if (g_allocation_failed && std::uncaught_exceptions() > 0) return true;
  if (g_allocations_left == 0 || --g_allocations_left > 0) return false;
  g_allocation_failed = true;
  return true;
}

void* allocate(std::size_t size) {
  if (!fails()) {
    if (void* memory = std::malloc(size > 0 ? size : 1); memory != nullptr) return memory;
  }
  throw std::bad_alloc();
}

void* allocate_aligned(std::size_t size, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  if (!fails()) {
    if (void* memory = std::aligned_alloc(unit, (size + unit - 1) / unit * unit); memory != nullptr) return memory;
  }
  throw std::bad_alloc();
}

}  // namespace
}  // namespace metactrl::testing

using metactrl::testing::allocate;
using metactrl::testing::allocate_aligned;

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, std::align_val_t alignment) { return allocate_aligned(size, alignment); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return allocate_aligned(size, alignment); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
