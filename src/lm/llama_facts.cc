// The header of a GGUF file: pairs of keys and values, and what tensors there are. Their data is not read.
#include <gguf.h>

#include <cstdint>
#include <memory>
#include <string>

#include "lm/llama_prompt.h"
#include "lm/llama_runtime.h"
#include "lm/model_facts.h"
#include "metactrl/error.h"
#include "support/str_cat.h"

namespace metactrl::lm {

namespace {

struct FreeHeader {
  void operator()(gguf_context* header) const { gguf_free(header); }
};

std::string text_value(const gguf_context* header, const char* key) {
  const std::int64_t id = gguf_find_key(header, key);
  if (id < 0 || gguf_get_kv_type(header, id) != GGUF_TYPE_STRING) return {};
  return gguf_get_val_str(header, id);
}

std::size_t number_value(const gguf_context* header, const std::string& key) {
  const std::int64_t id = gguf_find_key(header, key.c_str());
  if (id < 0) return 0;
  if (gguf_get_kv_type(header, id) == GGUF_TYPE_UINT32) return gguf_get_val_u32(header, id);
  if (gguf_get_kv_type(header, id) == GGUF_TYPE_UINT64) return gguf_get_val_u64(header, id);
  return 0;
}

}  // namespace

ModelFacts read_model_facts(const std::string& file) {
  lm::check_gguf_header(file);
  lm::start_runtime();
  lm::ErrorLog log;
  const std::unique_ptr<gguf_context, FreeHeader> header(gguf_init_from_file(file.c_str(), {true, nullptr}));
  if (header == nullptr) {
    throw InputError(file, internal::str_cat("the header of this GGUF file cannot be read: ", log.reason()),
                     "it may be truncated; get it again");
  }
  ModelFacts facts;
  facts.name = text_value(header.get(), "general.name");
  facts.architecture = text_value(header.get(), "general.architecture");
  facts.context = number_value(header.get(), facts.architecture + ".context_length");
  facts.tensors = static_cast<std::size_t>(gguf_get_n_tensors(header.get()));
  if (const std::string chat = text_value(header.get(), "tokenizer.chat_template"); !chat.empty()) {
    try {
      facts.chat_template_name = lm::template_name(chat);
      facts.chat_template = ChatTemplate::kUnderstood;
    } catch (const jinja::Error& error) {
      facts.chat_template_name = error.what();
      facts.chat_template = ChatTemplate::kNotUnderstood;
    }
  }
  return facts;
}

}  // namespace metactrl::lm
