// What the header of a GGUF file says of the model in it.
#ifndef METACTRL_SRC_LM_MODEL_FACTS_H_
#define METACTRL_SRC_LM_MODEL_FACTS_H_

#include <cstddef>
#include <string>

namespace metactrl::lm {

// How a model's prompts are written.
enum class ChatTemplate {
  kNone,           // prompts are plain text
  kUnderstood,     // prompts are written as the model was trained to read them
  kNotUnderstood,  // the file has one that cannot be used; only raw prompts can be sent
};
// What the header of a GGUF file says, without loading the model. Throws as load_vocabulary does.
struct ModelFacts {
  std::string name;
  std::string architecture;  // "llama"
  std::size_t context = 0;   // tokens it was trained for; 0 when the file does not say
  std::size_t tensors = 0;   // 0 in files that hold a vocabulary only
  ChatTemplate chat_template = ChatTemplate::kNone;
  std::string chat_template_name;  // of one that is understood: "llama3"; otherwise why it is not
};
ModelFacts read_model_facts(const std::string& file);

}  // namespace metactrl::lm

#endif  // METACTRL_SRC_LM_MODEL_FACTS_H_
