// An ELF file begins with a header that says where two tables are: segments, which is what is mapped, and sections, which
// stand at the end: when they are not all there, something is missing. One segment is the list of what the loader has to
// know (DT_NEEDED: a library's name, as a place in the table of strings DT_STRTAB).
//
// Code for NVIDIA GPUs is in the section .nv_fatbin: containers, one behind the other, each with one entry for each kind of
// GPU it was compiled for. Both begin with a header that says how long they are, so that all kinds are known after some
// thousand small reads of what may be hundreds of megabytes.
#include "lm/library_file.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>

namespace metactrl::lm {

namespace {

#if defined(__x86_64__)
constexpr unsigned kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kMachine = EM_AARCH64;
#else
constexpr unsigned kMachine = EM_NONE;  // not checked
#endif

struct FatContainer {
  static constexpr std::uint32_t kMagic = 0xba55ed50;

  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_bytes;
  std::uint64_t bytes;  // behind the header
};
struct FatEntry {
  static constexpr std::uint16_t kPtx = 1;
  static constexpr std::uint16_t kMachineCode = 2;

  std::uint16_t kind;
  std::uint16_t attributes;
  std::uint32_t header_bytes;
  std::uint64_t bytes;  // behind the header
  std::uint32_t compressed_bytes;
  std::uint32_t options_at;
  std::uint16_t minor;  // of the code's own format: PTX 9.1 has 9 and 1
  std::uint16_t major;
  std::uint32_t capability;
};

class ElfReader {
 public:
  explicit ElfReader(const std::string& file) : in_(file, std::ios::binary | std::ios::ate) {
    const auto end = in_ ? static_cast<std::streamoff>(in_.tellg()) : std::streamoff{0};
    size_ = end > 0 ? static_cast<std::uint64_t>(end) : 0;
  }

  LibraryFile read() {
    LibraryFile result;
    result.problem = check();
    if (result.problem.empty() && !read_needed(result.needed)) result.problem = "it is damaged";
    if (result.problem.empty()) result.gpu_code = read_gpu_code();
    return result;
  }

 private:
  static constexpr std::uint64_t kMaxDynamic = 4096;  // entries

  bool is_inside(std::uint64_t offset, std::uint64_t bytes) const { return offset <= size_ && bytes <= size_ - offset; }

  bool read_at(std::uint64_t offset, void* to, std::uint64_t bytes) {
    if (!is_inside(offset, bytes)) return false;
    in_.clear();
    in_.seekg(static_cast<std::streamoff>(offset));
    in_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
    return static_cast<bool>(in_);
  }

  std::string check() {
    if (!in_) return "it cannot be read";
    if (!read_at(0, &header_, sizeof header_) || std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 ||
        header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_type != ET_DYN) {
      return "it is not a shared library";
    }
    if (kMachine != EM_NONE && header_.e_machine != kMachine) return "it is for another kind of processor";
    if (header_.e_phentsize != sizeof(Elf64_Phdr) || header_.e_phnum == 0) return "it is damaged";
    if (!is_inside(header_.e_shoff, std::uint64_t{header_.e_shnum} * header_.e_shentsize)) return "it is cut off";
    segments_.resize(header_.e_phnum);
    if (!read_at(header_.e_phoff, segments_.data(), segments_.size() * sizeof(Elf64_Phdr))) return "it is cut off";
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_type == PT_LOAD && !is_inside(segment.p_offset, segment.p_filesz)) return "it is cut off";
    }
    return {};
  }

  // Where in the file an address of the loaded library is.
  std::optional<std::uint64_t> offset_of(std::uint64_t address) const {
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz) {
        return segment.p_offset + (address - segment.p_vaddr);
      }
    }
    return std::nullopt;
  }

  bool read_needed(std::vector<std::string>& needed) {
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_type != PT_DYNAMIC) continue;
      const std::uint64_t count = segment.p_filesz / sizeof(Elf64_Dyn);
      if (count > kMaxDynamic) return false;
      std::vector<Elf64_Dyn> entries(count);
      if (!read_at(segment.p_offset, entries.data(), count * sizeof(Elf64_Dyn))) return false;
      std::uint64_t strings = 0;
      for (const Elf64_Dyn& entry : entries) {
        if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
      }
      const std::optional<std::uint64_t> table = offset_of(strings);
      if (!table) return false;
      for (const Elf64_Dyn& entry : entries) {
        if (entry.d_tag == DT_NULL) break;
        if (entry.d_tag == DT_NEEDED && !read_name(*table + entry.d_un.d_val, needed)) return false;
      }
      return true;
    }
    return false;
  }

  bool read_name(std::uint64_t offset, std::vector<std::string>& names) {
    char c = '\0';
    if (!read_at(offset, &c, 1)) return false;
    in_.seekg(static_cast<std::streamoff>(offset));
    std::string name;
    std::getline(in_, name, '\0');
    if (name.empty() || name.size() > 255) return false;
    names.push_back(std::move(name));
    return true;
  }

  std::optional<Elf64_Shdr> find_section(const std::string& name) {
    if (header_.e_shentsize != sizeof(Elf64_Shdr) || header_.e_shstrndx >= header_.e_shnum) return std::nullopt;
    std::vector<Elf64_Shdr> sections(header_.e_shnum);
    if (!read_at(header_.e_shoff, sections.data(), sections.size() * sizeof(Elf64_Shdr))) return std::nullopt;
    const std::uint64_t names = sections[header_.e_shstrndx].sh_offset;
    std::string found(name.size() + 1, '\0');
    for (const Elf64_Shdr& section : sections) {
      if (!read_at(names + section.sh_name, found.data(), found.size()) || found.compare(0, name.size(), name) != 0 ||
          found.back() != '\0') {
        continue;
      }
      return section;
    }
    return std::nullopt;
  }

  // Nothing when some of it is not understood: what it has for a GPU could be there.
  std::vector<GpuCode> read_gpu_code() {
    const std::optional<Elf64_Shdr> section = find_section(".nv_fatbin");
    if (!section || !is_inside(section->sh_offset, section->sh_size)) return {};
    std::set<GpuCode> kinds;
    std::uint64_t at = section->sh_offset;
    const std::uint64_t end = at + section->sh_size;
    while (at < end) {
      FatContainer container{};
      if (!read_at(at, &container, sizeof container) || container.magic != FatContainer::kMagic ||
          container.version != 1 || container.header_bytes < sizeof container ||
          container.bytes > end - at - std::min<std::uint64_t>(container.header_bytes, end - at)) {
        return {};
      }
      at += container.header_bytes;
      if (!read_entries(at, at + container.bytes, kinds)) return {};
      at += container.bytes;
    }
    return {kinds.begin(), kinds.end()};
  }

  bool read_entries(std::uint64_t at, std::uint64_t end, std::set<GpuCode>& kinds) {
    while (at < end) {
      FatEntry entry{};
      if (!read_at(at, &entry, sizeof entry) || entry.header_bytes < sizeof entry || entry.header_bytes > end - at ||
          entry.bytes > end - at - entry.header_bytes) {
        return false;
      }
      if (entry.kind == FatEntry::kPtx) {
        kinds.insert({entry.capability, entry.major * 10U + entry.minor});
      } else if (entry.kind == FatEntry::kMachineCode) {
        kinds.insert({entry.capability, 0});
      }
      at += entry.header_bytes + entry.bytes;
    }
    return at == end;
  }

  std::ifstream in_;
  std::uint64_t size_ = 0;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> segments_;
};

}  // namespace

LibraryFile look_at_library(const std::string& file) { return ElfReader(file).read(); }

std::vector<std::string> missing_libraries(const std::vector<std::string>& names) {
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    if (::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) missing.push_back(name);
  }
  return missing;
}

std::string machine_name() {
  utsname names{};
  return ::uname(&names) == 0 ? names.machine : "";
}

}  // namespace metactrl::lm
