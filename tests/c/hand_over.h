// Calls of metactrl/c.h from tests: an error is an exception, a handle has an owner, and what was made in C++ is handed over.
#ifndef METACTRL_TESTS_C_HAND_OVER_H_
#define METACTRL_TESTS_C_HAND_OVER_H_

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "metactrl/c.h"
#include "metactrl/hmm.h"
#include "metactrl/vocabulary.h"
#include "support/str_cat.h"

namespace metactrl::c_attack_test {

using internal::str_cat;

inline void must(metactrl_status status, metactrl_error* error) {
  if (status == METACTRL_OK && error == nullptr) return;
  const std::string message = str_cat("status ", status, ": ", metactrl_error_message(error));
  metactrl_error_free(error);
  throw std::runtime_error(message);
}

// A call that must succeed.
template <typename Function, typename... Arguments>
void call(Function function, Arguments... arguments) {
  metactrl_error* error = nullptr;
  must(function(arguments..., &error), error);
}

template <typename T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

inline std::string take(metactrl_text* text) {
  std::string out(metactrl_text_data(text), metactrl_text_size(text));
  metactrl_text_free(text);
  return out;
}

// The tokenizer of the engine: a vocabulary of this side, asked from the other.
inline std::int64_t encode(void* user, const char* text, std::size_t size, std::int32_t* ids, std::size_t capacity) {
  const std::vector<TokenId> tokens = static_cast<const Vocabulary*>(user)->encode({text, size}, {});
  for (std::size_t i = 0; i < tokens.size() && i < capacity; ++i) ids[i] = static_cast<std::int32_t>(tokens[i]);
  return static_cast<std::int64_t>(tokens.size());
}

inline Owned<metactrl_vocabulary> hand_over(const Vocabulary& vocabulary) {
  std::string bytes;
  std::vector<std::uint64_t> offsets{0};
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    bytes += vocabulary.bytes(TokenId{static_cast<std::int32_t>(i)});
    offsets.push_back(bytes.size());
  }
  std::vector<std::int32_t> ends;
  for (const TokenId end : vocabulary.end_of_turn()) ends.push_back(static_cast<std::int32_t>(end));
  metactrl_vocabulary_options options;
  metactrl_vocabulary_options_default(&options);
  options.num_tokens = vocabulary.size();
  options.bytes = bytes.data();
  options.offsets = offsets.data();
  options.end_of_turn = ends.data();
  options.num_end_of_turn = ends.size();
  options.encode = encode;
  options.user = const_cast<Vocabulary*>(&vocabulary);
  metactrl_vocabulary* made = nullptr;
  call(metactrl_vocabulary_new, &options, &made);
  return {made, metactrl_vocabulary_free};
}

// A model with random parameters, through a file as programs get it.
inline Owned<metactrl_hmm> hand_over(const Hmm& hmm) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / str_cat("c_attack_", ::getpid(), "_", hmm.num_symbols(), ".hmm");
  hmm.save(file);
  metactrl_hmm* made = nullptr;
  call(metactrl_hmm_load, file.c_str(), &made);
  std::filesystem::remove(file);  // it is mapped
  return {made, metactrl_hmm_free};
}

}  // namespace metactrl::c_attack_test

#endif  // METACTRL_TESTS_C_HAND_OVER_H_
