// The file of a model.
//
//     "mctrlhmm"  version u32  zero u32
//     hidden  symbols  end  actions  slots  vocabulary  step          u64 each
//     number of names u64, then each name; made_by                    u32 length and bytes
//     zeros up to a multiple of 64
//     initial  transition  emission                                   f32
//     zeros up to a multiple of 8, hash of everything before u64
//
// all little-endian. The parameters are used where they lie in the mapped file. The hash finds damage; what the program
// relies on (sizes, distributions) is checked again.
#include <cstring>

#include "hmm/hmm_data.h"
#include "metactrl/error.h"
#include "support/bytes.h"
#include "support/files.h"
#include "support/hash.h"
#include "support/mapped_file.h"
#include "support/str_cat.h"

namespace metactrl {

using internal::ByteReader;
using internal::ByteWriter;
using internal::str_cat;

namespace {

constexpr std::string_view kHmmMagic = "mctrlhmm";
constexpr std::uint32_t kHmmVersion = 1;
constexpr std::size_t kAlignment = 64;
constexpr const char* kHmmHint = "copy it again, or train it anew";

}  // namespace

void Hmm::save(const std::string& file) const {
  ByteWriter out;
  out.bytes(kHmmMagic.data(), kHmmMagic.size());
  out.number(kHmmVersion);
  out.number(std::uint32_t{0});
  for (const std::uint64_t number :
       {std::uint64_t{num_hidden()}, std::uint64_t{num_symbols()},
        std::uint64_t{static_cast<std::uint32_t>(alphabet().end)}, std::uint64_t{alphabet().num_actions},
        std::uint64_t{alphabet().num_slots}, alphabet().vocabulary, step()}) {
    out.number(number);
  }
  out.number(std::uint64_t{alphabet().names.size()});
  for (const std::string& name : alphabet().names) out.text(name);
  out.text(made_by());
  out.align(kAlignment);
  for (const std::span<const float> values : {initial(), transition(), emission()}) {
    out.bytes(values.data(), values.size_bytes());
  }
  out.align(sizeof(std::uint64_t));
  out.number(internal::hash_bytes(out.written()));
  internal::write_file(file, out.written());
}

Hmm Hmm::load(const std::string& file) {
  std::shared_ptr<const internal::MappedFile> mapped = internal::MappedFile::open(file);
  const std::string_view bytes = mapped->bytes();
  if (!bytes.starts_with(kHmmMagic)) {
    throw InputError(file, "is not a hidden Markov model of metactrl",
                     "'metactrl train' makes them; 'metactrl hmm import' reads Ctrl-G's checkpoints");
  }
  ByteReader in(bytes, file, kHmmHint);
  in.bytes(kHmmMagic.size());
  const auto version = in.number<std::uint32_t>();
  if (version != kHmmVersion) {
    throw InputError(file,
                     str_cat("has version ", version, " of the file format; this program reads version ", kHmmVersion),
                     "train it anew with this program, or use the program that made it");
  }
  std::uint64_t hash = 0;
  if (bytes.size() < sizeof(hash)) throw InputError(file, "ends too early: it is cut off or damaged", kHmmHint);
  std::memcpy(&hash, bytes.data() + bytes.size() - sizeof(hash), sizeof(hash));
  if (internal::hash_bytes(bytes.substr(0, bytes.size() - sizeof(hash))) != hash) {
    throw InputError(file, "is damaged or cut off: its checksum does not fit", kHmmHint);
  }
  in.number<std::uint32_t>();
  auto data = std::make_shared<Data>();
  Alphabet& alphabet = data->alphabet;
  data->hidden = in.number<std::uint64_t>();
  alphabet.size = in.number<std::uint64_t>();
  alphabet.end = SymbolId{static_cast<std::uint32_t>(in.number<std::uint64_t>())};
  alphabet.num_actions = in.number<std::uint64_t>();
  alphabet.num_slots = in.number<std::uint64_t>();
  alphabet.vocabulary = in.number<std::uint64_t>();
  data->step = in.number<std::uint64_t>();
  const auto num_names = in.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < num_names; ++i) alphabet.names.push_back(in.text());
  data->made_by = in.text();
  in.align(kAlignment);
  constexpr std::size_t kMost = std::size_t{1} << 40U;
  const std::size_t hidden = data->hidden;
  const bool sane = hidden < kMost && alphabet.size < kMost;
  const std::size_t floats = in.left() / sizeof(float);
  if (!sane || hidden == 0 || (1 + hidden + alphabet.size) > floats / hidden) {
    throw InputError(file, "says of itself what cannot be", kHmmHint);
  }
  const auto take = [&](std::size_t count) {
    const std::string_view part = in.bytes(count * sizeof(float));
    return std::span<const float>(reinterpret_cast<const float*>(part.data()), count);
  };
  data->initial = take(hidden);
  data->transition = take(hidden * hidden);
  data->emission = take(alphabet.size * hidden);
  data->owner = std::move(mapped);
  data->check(file);
  return Hmm(std::shared_ptr<const Data>(std::move(data)));
}

}  // namespace metactrl
