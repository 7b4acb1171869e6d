#include "support/tiny_gguf.h"

#include <ggml.h>
#include <gguf.h>

#include <array>
#include <cmath>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace metactrl::testing {

namespace {

constexpr std::uint32_t kWidth = 64;
constexpr std::uint32_t kLayers = 2;
constexpr std::uint32_t kHeads = 4;
constexpr std::uint32_t kForward = 96;
constexpr std::uint32_t kInner = 128;  // mamba
constexpr std::uint32_t kState = 8;
constexpr std::uint32_t kConvolution = 4;
constexpr std::uint32_t kRank = 4;

std::string utf8(unsigned code) {
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xC0U | (code >> 6U)), static_cast<char>(0x80U | (code & 0x3FU))};
}

// GPT-2 writes each byte as a printable character: itself where it is one, otherwise the next from U+0100 on.
std::array<std::string, 256> byte_names() {
  std::array<std::string, 256> names;
  unsigned next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    names[byte] = utf8(printable ? byte : next++);
  }
  return names;
}

class Writer {
 public:
  explicit Writer(const TinyGgufOptions& options)
      : options_(options),
        gguf_(gguf_init_empty(), gguf_free),
        ggml_(ggml_init({std::size_t{options.vocabulary.empty() ? 16U : 128U} << 20U, nullptr, false}), ggml_free),
        random_(static_cast<std::mt19937::result_type>(options.seed)) {}

  void vocabulary() {
    const std::array<std::string, 256> names = byte_names();
    std::vector<std::string> tokens(names.begin(), names.end());
    const std::string blank = names[' '];
    const std::string newline = names['\n'];
    // Pairs in order of priority; the right-hand sides use only what came before.
    std::vector<std::pair<std::string, std::string>> pairs = {
        {"i", "n"},      {"o", "n"},      {"e", "r"},      {"a", "t"},     {"o", "r"},         {"t", "h"},
        {"th", "e"},     {blank, "t"},    {blank, "the"},  {"p", "u"},     {"pu", "t"},        {"o", "p"},
        {"e", "n"},      {"op", "en"},    {"s", "h"},      {"d", "i"},     {"di", "sh"},       {"w", "a"},
        {"sh", "er"},    {"g", "r"},      {"gr", "a"},     {"gra", "b"},   {"\"", ":"},        {"\"", ","},
        {"[", "\""},     {blank, "["},    {blank, "[\""},  {"\"", "]"},    {"\"]", ","},       {"\"]", "}"},
        {"{", "\""},     {blank, "\""},   {"(", "\""},     {")", newline}, {newline, newline}, {blank, blank},
        {blank, "open"}, {blank, "grab"}, {blank, "dish"}, {blank, "on"},  {"1", "0"},         {"10", "0"},
    };
    std::vector<std::string> merges;
    for (const auto& [left, right] : pairs) {
      merges.push_back(left + " " + right);
      tokens.push_back(left + right);
    }
    std::vector<std::int32_t> types(tokens.size(), 1);
    const auto control = [&](const char* text) {
      tokens.emplace_back(text);
      types.push_back(3);
      return static_cast<std::uint32_t>(tokens.size() - 1);
    };
    const std::uint32_t end = control("<|endoftext|>");
    control("<|im_start|>");
    const std::uint32_t end_of_turn = control("<|im_end|>");
    for (const std::string& marker : options_.markers) {
      tokens.push_back(marker);
      types.push_back(4);
    }
    for (int i = 0; options_.padding && i < 13; ++i) {
      tokens.push_back("[PAD" + std::to_string(i) + "]");
      types.push_back(5);
    }
    size_ = static_cast<std::int64_t>(tokens.size());

    string("tokenizer.ggml.model", "gpt2");
    string("tokenizer.ggml.pre", "gpt-2");
    strings("tokenizer.ggml.tokens", tokens);
    strings("tokenizer.ggml.merges", merges);
    gguf_set_arr_data(gguf_.get(), "tokenizer.ggml.token_type", GGUF_TYPE_INT32, types.data(), types.size());
    number("tokenizer.ggml.bos_token_id", end);
    number("tokenizer.ggml.eos_token_id", end_of_turn);
    gguf_set_val_bool(gguf_.get(), "tokenizer.ggml.add_bos_token", false);
    if (options_.chat_template) {
      string("tokenizer.chat_template",
             !options_.template_text.empty()
                 ? options_.template_text
                 : "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + "
                   "'<|im_end|>' + "
                   "'\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}");
    }
  }

  // All keys but those that say what the weights are.
  void vocabulary_of_file() {
    const std::unique_ptr<gguf_context, void (*)(gguf_context*)> source(
        gguf_init_from_file(options_.vocabulary.c_str(), {true, nullptr}), gguf_free);
    if (source == nullptr) throw std::runtime_error("cannot read " + options_.vocabulary);
    gguf_set_kv(gguf_.get(), source.get());
    size_ =
        static_cast<std::int64_t>(gguf_get_arr_n(source.get(), gguf_find_key(source.get(), "tokenizer.ggml.tokens")));
    string("tokenizer.chat_template", options_.template_text);
  }

  void hyperparameters(const std::string& architecture) {
    string("general.architecture", architecture);
    string("general.name", "tiny test model");
    const std::string a = architecture + ".";
    number(a + "context_length", options_.context);
    number(a + "embedding_length", kWidth);
    number(a + "block_count", kLayers);
    gguf_set_val_f32(gguf_.get(), (a + "attention.layer_norm_rms_epsilon").c_str(), 1e-5F);
    if (options_.kind == TinyGgufOptions::Kind::kRecurrent) {
      number(a + "feed_forward_length", 0);
      number(a + "attention.head_count", 0);
      number(a + "ssm.conv_kernel", kConvolution);
      number(a + "ssm.inner_size", kInner);
      number(a + "ssm.state_size", kState);
      number(a + "ssm.time_step_rank", kRank);
      return;
    }
    number(a + "feed_forward_length", kForward);
    number(a + "attention.head_count", kHeads);
    number(a + "attention.head_count_kv", kHeads / 2);
    number(a + "rope.dimension_count", kWidth / kHeads);
    if (options_.kind == TinyGgufOptions::Kind::kSlidingWindow) {
      number(a + "attention.key_length", kWidth / kHeads);
      number(a + "attention.value_length", kWidth / kHeads);
      number(a + "attention.sliding_window", 16);
    }
  }

  void transformer_weights(bool with_post_norms) {
    matrix("token_embd.weight", kWidth, size_, 1.0F);
    norm("output_norm.weight");
    // A large vocabulary has one matrix for both ends.
    if (!with_post_norms && options_.vocabulary.empty()) matrix("output.weight", kWidth, size_, 2.0F);
    for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
      const std::string block = "blk." + std::to_string(layer) + ".";
      norm(block + "attn_norm.weight");
      matrix(block + "attn_q.weight", kWidth, kWidth, 1.0F);
      matrix(block + "attn_k.weight", kWidth, kWidth / 2, 1.0F);
      matrix(block + "attn_v.weight", kWidth, kWidth / 2, 1.0F);
      matrix(block + "attn_output.weight", kWidth, kWidth, 1.0F);
      norm(block + "ffn_norm.weight");
      matrix(block + "ffn_gate.weight", kWidth, kForward, 1.0F);
      matrix(block + "ffn_up.weight", kWidth, kForward, 1.0F);
      matrix(block + "ffn_down.weight", kForward, kWidth, 1.0F);
      if (with_post_norms) {
        norm(block + "post_attention_norm.weight");
        norm(block + "post_ffw_norm.weight");
      }
    }
  }

  void recurrent_weights() {
    matrix("token_embd.weight", kWidth, size_, 1.0F);
    norm("output_norm.weight");
    for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
      const std::string block = "blk." + std::to_string(layer) + ".";
      norm(block + "attn_norm.weight");
      matrix(block + "ssm_in.weight", kWidth, 2 * kInner, 1.0F);
      matrix(block + "ssm_conv1d.weight", kConvolution, kInner, 1.0F);
      vector(block + "ssm_conv1d.bias", kInner, 0.0F, 0.1F);
      matrix(block + "ssm_x.weight", kInner, kRank + 2 * kState, 1.0F);
      matrix(block + "ssm_dt.weight", kRank, kInner, 1.0F);
      vector(block + "ssm_dt.bias", kInner, -1.0F, 0.1F);
      // Negative: the state decays.
      fill(ggml_new_tensor_2d(ggml_.get(), GGML_TYPE_F32, kState, kInner), block + "ssm_a", -1.0F, 0.1F);
      vector(block + "ssm_d", kInner, 1.0F, 0.1F);
      matrix(block + "ssm_out.weight", kInner, kWidth, 1.0F);
    }
  }

  void save(const std::string& file) {
    for (ggml_tensor* tensor : tensors_) gguf_add_tensor(gguf_.get(), tensor);
    write(gguf_.get(), file);
  }

  // Everything but half of the tensors is in the first file.
  void save_parts(const std::string& prefix) {
    const std::unique_ptr<gguf_context, void (*)(gguf_context*)> second(gguf_init_empty(), gguf_free);
    const std::size_t half = tensors_.size() / 2;
    std::uint16_t number = 0;
    for (gguf_context* part : {gguf_.get(), second.get()}) {
      gguf_set_val_u16(part, "split.no", number++);
      gguf_set_val_u16(part, "split.count", 2);
      gguf_set_val_i32(part, "split.tensors.count", static_cast<std::int32_t>(tensors_.size()));
    }
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      gguf_add_tensor(i < half ? gguf_.get() : second.get(), tensors_[i]);
    }
    write(gguf_.get(), prefix + "-00001-of-00002.gguf");
    write(second.get(), prefix + "-00002-of-00002.gguf");
  }

 private:
  static void write(const gguf_context* gguf, const std::string& file) {
    if (!gguf_write_to_file(gguf, file.c_str(), false)) throw std::runtime_error("cannot write " + file);
  }
  void string(const std::string& key, const std::string& value) {
    gguf_set_val_str(gguf_.get(), key.c_str(), value.c_str());
  }
  void number(const std::string& key, std::uint32_t value) { gguf_set_val_u32(gguf_.get(), key.c_str(), value); }
  void strings(const std::string& key, const std::vector<std::string>& values) {
    std::vector<const char*> pointers;
    for (const std::string& value : values) pointers.push_back(value.c_str());
    gguf_set_arr_str(gguf_.get(), key.c_str(), pointers.data(), pointers.size());
  }

  // In [-1, 1). The distributions of the standard library differ from one implementation to the next; this does not.
  float uniform() { return static_cast<float>(random_() >> 8U) * 0x1p-23F - 1.0F; }

  void fill(ggml_tensor* tensor, const std::string& name, float mean, float spread) {
    ggml_set_name(tensor, name.c_str());
    auto* values = static_cast<float*>(tensor->data);
    for (std::int64_t i = 0; i < ggml_nelements(tensor); ++i) values[i] = mean + spread * uniform();
    tensors_.push_back(tensor);
  }
  void matrix(const std::string& name, std::int64_t in, std::int64_t out, float gain) {
    fill(ggml_new_tensor_2d(ggml_.get(), GGML_TYPE_F32, in, out), name, 0.0F,
         gain * std::sqrt(3.0F / static_cast<float>(in)));
  }
  void vector(const std::string& name, std::int64_t size, float mean, float spread) {
    fill(ggml_new_tensor_1d(ggml_.get(), GGML_TYPE_F32, size), name, mean, spread);
  }
  void norm(const std::string& name) { vector(name, kWidth, 1.0F, 0.1F); }

  TinyGgufOptions options_;
  std::unique_ptr<gguf_context, void (*)(gguf_context*)> gguf_;
  std::unique_ptr<ggml_context, void (*)(ggml_context*)> ggml_;
  std::mt19937 random_;
  std::int64_t size_ = 0;
  std::vector<ggml_tensor*> tensors_;
};

void fill_in(Writer& writer, const TinyGgufOptions& options) {
  switch (options.kind) {
    case TinyGgufOptions::Kind::kTransformer:
      if (options.vocabulary.empty()) {
        writer.vocabulary();
      } else {
        writer.vocabulary_of_file();
      }
      writer.hyperparameters("llama");
      writer.transformer_weights(false);
      break;
    case TinyGgufOptions::Kind::kSlidingWindow:
      writer.hyperparameters("gemma2");
      writer.vocabulary();
      writer.transformer_weights(true);
      break;
    case TinyGgufOptions::Kind::kRecurrent:
      writer.hyperparameters("mamba");
      writer.vocabulary();
      writer.recurrent_weights();
      break;
  }
}

}  // namespace

void write_tiny_gguf(const std::string& file, const TinyGgufOptions& options) {
  Writer writer(options);
  fill_in(writer, options);
  writer.save(file);
}

void write_tiny_gguf_parts(const std::string& prefix, const TinyGgufOptions& options) {
  Writer writer(options);
  fill_in(writer, options);
  writer.save_parts(prefix);
}

}  // namespace metactrl::testing
