// metactrl backends: what models can run on, and how more of it gets there.
#include "lm/backends.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "cli/backend_fetch.h"
#include "cli/common.h"
#include "cli/llama_pins.h"
#include "cli/options.h"
#include "cli/output.h"
#include "lm/library_file.h"
#include "metactrl/error.h"
#include "metactrl/language_model.h"
#include "support/list_some.h"
#include "support/nearest_name.h"
#include "support/str_cat.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

namespace fs = std::filesystem;

struct NeededLibrary {
  const char* name;
  const char* from;  // how to get it
};
struct KnownBackend {
  const char* name;
  const char* devices;
  std::vector<NeededLibrary> needs;
};

const std::vector<KnownBackend>& known_backends() {
  static const std::vector<KnownBackend> kAll = {
      {"cuda",
       "NVIDIA GPUs",
       {{"libcuda.so.1", "NVIDIA's driver, 580 or newer, for some GPUs 590"},
        {"libcudart.so.13", "CUDA 13, package cuda-cudart-13-0 of NVIDIA's repository"},
        {"libcublas.so.13", "CUDA 13, package libcublas-13-0 of NVIDIA's repository"}}},
      {"cuda12",
       "NVIDIA GPUs that cuda has no code for, and older drivers",
       {{"libcuda.so.1", "NVIDIA's driver, 550 or newer"},
        {"libcudart.so.12", "CUDA 12, package cuda-cudart-12-4 of NVIDIA's repository or newer"},
        {"libcublas.so.12", "CUDA 12, package libcublas-12-4 of NVIDIA's repository or newer"}}},
      {"vulkan", "GPUs of any maker", {{"libvulkan.so.1", "package libvulkan1, and the GPU's own driver for Vulkan"}}},
  };
  return kAll;
}

constexpr const char* kBuildIt =
    "build llama.cpp and the program with CUDA: scripts/build -DMETACTRL_LLAMA_PREFIX=\"$(scripts/llama --source "
    "--cuda)\"";

// What of a backend's needs is not there.
std::vector<NeededLibrary> missing_of(const KnownBackend& backend) {
  std::vector<NeededLibrary> missing;
  for (const NeededLibrary& library : backend.needs) {
    if (!lm::missing_libraries({library.name}).empty()) missing.push_back(library);
  }
  return missing;
}

std::vector<std::string> names_of_backends() {
  std::vector<std::string> names;
  for (const KnownBackend& backend : known_backends()) names.emplace_back(backend.name);
  return names;
}

const KnownBackend* find_known(const std::string& name) {
  for (const KnownBackend& backend : known_backends()) {
    if (name == backend.name) return &backend;
  }
  return nullptr;
}

// The ready-made package that fits this program; null when there is none.
const PinnedPackage* package_for(const LlamaPins& pins, const std::string& name) {
  if (lm::backends_are_built_in() || lm::runtime_version() != pins.version) return nullptr;
  return pins.find(str_cat(name, "-", lm::machine_name()));
}

// Why nothing can be added; empty when something can.
std::string why_none_can_be_added(const LlamaPins& pins) {
  if (lm::backends_are_built_in()) {
    return "this program's llama.cpp was built from source, with its backends inside, and loads no others";
  }
  if (lm::runtime_version() != pins.version) {
    return str_cat("ready-made backends are of llama.cpp ", pins.version, ", and this program has ",
                   lm::runtime_version());
  }
  for (const KnownBackend& backend : known_backends()) {
    if (package_for(pins, backend.name) != nullptr) return {};
  }
  return str_cat("there are no ready-made GPU backends for ", lm::machine_name());
}

std::string missing_text(const std::vector<NeededLibrary>& missing) {
  std::string text;
  for (const NeededLibrary& library : missing)
    text += str_cat("    missing: ", library.name, " (", library.from, ")\n");
  return text;
}

// What may run where `cuda` does not.
std::string other_for_cuda(const std::string& name) {
  if (name != "cuda" || package_for(llama_pins(), "cuda12") == nullptr) return {};
  return "    for other GPUs and older drivers: metactrl backends add cuda12\n";
}

// --- the list ------------------------------------------------------------------------------------------------------

int list_backends_json(const lm::BackendReport& report, const LlamaPins& pins, const OutputOptions& output) {
  const bool there = !model_runtime().empty();
  Json json{{"runtime", there ? Json(model_runtime()) : Json(nullptr)},
            {"machine", lm::machine_name()},
            {"built_in", lm::backends_are_built_in()},
            {"library", report.library.string()},
            {"added", lm::added_backends().string()}};
  json["devices"] = Json::array();
  for (const lm::BackendDevice& device : report.devices) {
    json["devices"].push_back({{"name", device.name},
                               {"description", device.description},
                               {"kind", device.kind},
                               {"backend", device.backend},
                               {"free_bytes", device.free_bytes},
                               {"total_bytes", device.total_bytes}});
  }
  json["files"] = Json::array();
  for (const lm::BackendFile& file : report.files) {
    json["files"].push_back({{"name", file.name},
                             {"file", file.file.string()},
                             {"loaded", file.problem.empty()},
                             {"problem", file.problem}});
  }
  json["can_be_added"] = Json::array();
  for (const KnownBackend& backend : known_backends()) {
    const PinnedPackage* package = there ? package_for(pins, backend.name) : nullptr;
    if (package == nullptr) continue;
    Json entry{{"name", backend.name}, {"devices", backend.devices}, {"bytes", package->bytes}};
    entry["needs"] = Json::array();
    for (const NeededLibrary& library : backend.needs) {
      const bool found = lm::missing_libraries({library.name}).empty();
      entry["needs"].push_back({{"library", library.name}, {"found", found}, {"from", library.from}});
    }
    json["can_be_added"].push_back(std::move(entry));
  }
  print(output, json);
  return kDone;
}

std::string padded_name(std::string name) {
  name.resize(std::max<std::size_t>(name.size() + 2, 12), ' ');
  return name;
}

std::string device_lines(const lm::BackendReport& report) {
  std::string out = "Devices:\n";
  for (const lm::BackendDevice& device : report.devices) {
    out += str_cat("  ", padded_name(device.name), device.description);
    if (device.total_bytes > 0) {
      out += str_cat(", ", bytes_text(static_cast<double>(device.free_bytes)), " of ",
                     bytes_text(static_cast<double>(device.total_bytes)), " free");
    }
    out += device.backend.empty() ? "\n" : str_cat(" (", device.backend, ")\n");
  }
  return out;
}

std::string file_lines(const lm::BackendReport& report) {
  std::string out = "\nBackends that are there:\n";
  for (const lm::BackendFile& file : report.files) {
    out += str_cat("  ", padded_name(file.name), file.problem.empty() ? "loaded" : "CANNOT BE LOADED: " + file.problem,
                   "\n    ", file.file.string(), "\n");
    const KnownBackend* known = find_known(file.name);
    if (!file.problem.empty() && known != nullptr) out += missing_text(missing_of(*known)) + other_for_cuda(file.name);
  }
  return out;
}

int list_backends(const OutputOptions& output) {
  const LlamaPins pins = llama_pins();
  const lm::BackendReport report = lm::report_backends();
  if (output.json()) return list_backends_json(report, pins, output);
  if (model_runtime().empty()) {
    print(output, std::string("This program was built without llama.cpp and has no backends.\n"));
    return kDone;
  }
  std::string out = str_cat(model_runtime(), report.library.empty() ? "" : ", " + report.library.string(), "\n\n");
  out += device_lines(report);
  if (!report.files.empty()) out += file_lines(report);
  const std::string none = why_none_can_be_added(pins);
  std::string more;
  for (const KnownBackend& backend : known_backends()) {
    const PinnedPackage* package = package_for(pins, backend.name);
    const bool is_there = std::any_of(report.files.begin(), report.files.end(),
                                      [&](const lm::BackendFile& file) { return file.name == backend.name; });
    if (package == nullptr || is_there) continue;
    const std::vector<NeededLibrary> missing = missing_of(backend);
    more +=
        str_cat("  ", padded_name(backend.name), backend.devices, ", ", bytes_text(static_cast<double>(package->bytes)),
                " to fetch", missing.empty() ? "; what it needs is there\n" : "\n", missing_text(missing));
  }
  if (!none.empty()) {
    out += str_cat("\nNothing can be added: ", none, "\n", lm::has_gpu() ? "" : str_cat("For a GPU, ", kBuildIt, "\n"));
  } else if (!more.empty()) {
    out += str_cat("\nCan be fetched with 'metactrl backends add NAME':\n", more);
  }
  print(output, out);
  return kDone;
}

// --- add and remove ------------------------------------------------------------------------------------------------

// Throws unless there may be backends of that name.
const KnownBackend& known_backend(const std::string& name) {
  if (model_runtime().empty()) {
    throw InputError("backends", "this program was built without llama.cpp",
                     "run scripts/llama and configure again with -DMETACTRL_LLAMA=ON");
  }
  if (const KnownBackend* known = find_known(name)) return *known;
  const std::vector<std::string> names = names_of_backends();
  const std::string guess = internal::did_you_mean(name, names);
  throw InputError(name, str_cat("there is no such backend", guess.empty() ? "" : "; " + guess),
                   str_cat("name one of ", internal::list_some(names)));
}

fs::path folder_for_backends() {
  fs::path folder = lm::added_backends();
  if (!folder.empty()) return folder;
  throw InputError("cache", "there is no folder for backends: neither METACTRL_CACHE nor HOME is set",
                   "let METACTRL_CACHE or METACTRL_BACKENDS name a folder");
}

// Says what it brought. A backend that cannot be loaded here may have been fetched for another machine: no failure.
void report_added(const KnownBackend& backend, const fs::path& file) {
  const lm::BackendReport report = lm::report_backends();
  std::string out = str_cat(backend.name, " is there: ", file.string(), "\n");
  std::string problem;
  for (const lm::BackendFile& one : report.files) {
    if (one.name == backend.name) problem = one.problem;
  }
  std::size_t devices = 0;
  for (const lm::BackendDevice& device : report.devices) {
    if (device.backend != backend.name) continue;
    ++devices;
    out += str_cat("  ", padded_name(device.name), device.description, ", ",
                   bytes_text(static_cast<double>(device.free_bytes)), " of ",
                   bytes_text(static_cast<double>(device.total_bytes)), " free\n");
  }
  if (!problem.empty()) {
    out += str_cat("It cannot be loaded here: ", problem, "\n", missing_text(missing_of(backend)),
                   other_for_cuda(backend.name));
  } else if (devices == 0) {
    out += str_cat("It was loaded and finds none of the ", backend.devices, " it is for.\n");
  } else {
    out += "Models use it from now on; --gpu-layers 0 keeps one on the CPU.\n";
  }
  print(out);
}

int add_backend(const std::string& name) {
  const KnownBackend& backend = known_backend(name);
  const LlamaPins pins = llama_pins();
  const PinnedPackage* package = package_for(pins, name);
  if (package == nullptr) {
    std::string why = why_none_can_be_added(pins);
    if (why.empty()) why = str_cat("there is no ready-made ", name, " backend for ", lm::machine_name());
    throw InputError(name, "cannot be added: " + why, kBuildIt);
  }
  const fs::path folder = folder_for_backends();
  const fs::path file = backend_file(folder, name);
  if (!lm::look_at_library(file.string()).problem.empty()) fetch_backend(name, *package, folder);
  report_added(backend, file);
  return kDone;
}

int remove_backend(const std::string& name) {
  known_backend(name);
  const fs::path file = backend_file(folder_for_backends(), name);
  std::error_code failure;
  if (!fs::exists(file, failure)) {
    throw InputError(name, str_cat("was not added: there is no ", file.string()),
                     "'metactrl backends' lists what is there");
  }
  fs::remove(file, failure);
  if (failure) throw InputError(file.string(), str_cat("cannot be removed: ", failure.message()), "remove it by hand");
  print(str_cat(name, " is removed\n"));
  return kDone;
}

struct BackendsArguments {
  std::string action;
  std::string what;
  OutputOptions output;
};

int run_backends(const BackendsArguments& arguments) {
  if (arguments.action.empty()) return list_backends(arguments.output);
  if (arguments.what.empty())
    throw UsageError(str_cat("name the backend to ", arguments.action, ": ", internal::list_some(names_of_backends())));
  if (arguments.output.json() || !arguments.output.file.empty()) {
    throw UsageError("--output and --out are for the list");
  }
  return arguments.action == "add" ? add_backend(arguments.what) : remove_backend(arguments.what);
}

constexpr const char* kBackendsExamples =
    "\n"
    "  metactrl backends               what models can run on, and what can be added\n"
    "  metactrl backends add cuda      fetch the backend for NVIDIA GPUs, and try it\n"
    "  metactrl backends add cuda12    for NVIDIA GPUs or drivers that cuda is not for\n"
    "  metactrl backends remove cuda\n"
    "\n"
    "Backends are files that llama.cpp loads: libggml-NAME.so, beside its library or where METACTRL_BACKENDS says\n"
    "(unless set, in the cache). With a GPU and its backend there, models are on the GPU as far as they fit; "
    "--gpu-layers\n"
    "says otherwise.\n";

}  // namespace

Command add_backends(CLI::App& parent) {
  auto arguments = std::make_shared<BackendsArguments>();
  CLI::App* app = parent.add_subcommand("backends", "list what models can run on, add support for GPUs, remove it");
  app->add_option("action", arguments->action, "without it, what is there is listed")
      ->type_name("add|remove")
      ->check(one_of({"add", "remove"}));
  app->add_option("what", arguments->what, "the backend to add or to remove")->type_name("cuda|cuda12|vulkan");
  add_output_options(*app, arguments->output);
  app->footer(kBackendsExamples);
  return {app, [arguments] { return run_backends(*arguments); }};
}

}  // namespace metactrl::cli
