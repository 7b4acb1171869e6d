// The scenes that generate.py writes, one after the other:
//
//     #scene domains/tabletop/domain.pddl pddl drop 17 Put the cup away.
//     (define (problem scene) ...)
//     #end
//
// domain file, plan format, mistake to make (none: no mistake), seed, instruction (may be empty).
#ifndef METACTRL_MODELS_SEEDLING_SCENES_H_
#define METACTRL_MODELS_SEEDLING_SCENES_H_

#include <fstream>
#include <istream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>

namespace seedling {

struct Scene {
  std::string domain_file;
  std::string format;
  std::string mistake;
  unsigned long long seed = 0;
  std::string instruction;
  std::string problem;
};

// False at the end of the input.
inline bool read_scene(std::istream& in, Scene& scene) {
  std::string line;
  while (std::getline(in, line) && !line.starts_with("#scene ")) {
  }
  if (!in) return false;
  std::istringstream head(line.substr(7));
  if (!(head >> scene.domain_file >> scene.format >> scene.mistake >> scene.seed)) {
    throw std::runtime_error("cannot read: " + line);
  }
  scene.instruction.clear();
  std::getline(head >> std::ws, scene.instruction);
  scene.problem.clear();
  while (std::getline(in, line) && line != "#end") scene.problem += line + "\n";
  return true;
}

// Each file is read once.
class Files {
 public:
  const std::string& text(const std::string& file) {
    auto [entry, is_new] = texts_.try_emplace(file);
    if (is_new) {
      std::ifstream in(file);
      if (!in) throw std::runtime_error("cannot open " + file);
      entry->second.assign(std::istreambuf_iterator<char>(in), {});
    }
    return entry->second;
  }

 private:
  std::map<std::string, std::string> texts_;
};

}  // namespace seedling

#endif  // METACTRL_MODELS_SEEDLING_SCENES_H_
