#include "decode/names.h"

namespace metactrl {

const char* to_string(Guidance guidance) { return internal::name_of(guidance); }
const char* to_string(Bridge bridge) { return internal::name_of(bridge); }
const char* to_string(Tokenization tokenization) { return internal::name_of(tokenization); }
const char* to_string(DecodeMode mode) { return internal::name_of(mode); }
const char* to_string(PlanOptions::OnInfeasible what) { return internal::name_of(what); }
const char* to_string(ThinkOptions::Mode mode) { return internal::name_of(mode); }
const char* to_string(Thought::End end) { return internal::name_of(end); }
const char* to_string(Guarantee guarantee) { return internal::name_of(guarantee); }
const char* to_string(PlanOutcome outcome) { return internal::name_of(outcome); }
const char* to_string(ExplainedStep::Standing standing) { return internal::name_of(standing); }

std::optional<Guidance> guidance_named(std::string_view name) { return internal::value_named<Guidance>(name); }
std::optional<Bridge> bridge_named(std::string_view name) { return internal::value_named<Bridge>(name); }
std::optional<DecodeMode> decode_mode_named(std::string_view name) { return internal::value_named<DecodeMode>(name); }

}  // namespace metactrl
