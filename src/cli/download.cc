// A transfer is a loop of requests. Each asks for what is missing ("Range: bytes=N-"), and only if the file is still
// the one the part is of ("If-Range: ETAG"): the server then sends the rest (206), or all of it (200), and the part is
// begun anew. What the file must be comes from the caller or from the first answer, and is written beside the part
// before its first byte is. The SHA-256 grows with the file; a part of an earlier run is read once.
#include "cli/download.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <optional>
#include <system_error>
#include <thread>

#include "cli/common.h"
#include "cli/growing_file.h"
#include "cli/http_request.h"
#include "support/child_process.h"
#include "support/files.h"
#include "support/sha2.h"
#include "support/str_cat.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

namespace fs = std::filesystem;

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "abc", with its quotes; empty for one that promises less than equal bytes.
std::string strong_tag(const std::string& tag) { return tag.starts_with('"') && tag.size() > 2 ? tag : std::string(); }

// The hub calls a large file by its SHA-256.
std::string sha256_in(std::string tag) {
  std::erase(tag, '"');
  const bool is_digest = tag.size() == 64 && tag.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_digest ? tag : std::string();
}

void require_curl() {
  if (!internal::find_program("curl").empty()) return;
  throw InputError("curl", "is not installed, and models are fetched with it", "install it: apt-get install curl");
}

// --- trying again --------------------------------------------------------------------------------------------------

// How often a request that failed is made again, and after what pause.
class Patience {
 public:
  explicit Patience(std::string what) : what_(std::move(what)) {}

  // Waits, or throws when it is enough. `gained`: the request brought something.
  void wait(const HttpResult& result, bool gained) {
    if (!result.may_pass()) {
      if (result.curl == 0) throw RefusedError(what_, result.head.status, result.head.field("x-error-code"));
      throw InputError(what_, str_cat("cannot be fetched: ", result.reason()), "check the address");
    }
    // Without a network there is nothing to wait for, unless there was one a moment ago.
    if (result.unreachable() && !reached_) give_up(result, "check the network, then run the command again");
    reached_ = true;
    failures_ = gained ? 1 : failures_ + 1;
    const std::optional<std::uint64_t> asked = number_in(result.head.field("retry-after"));
    const std::uint64_t seconds = asked.value_or(std::uint64_t{1} << std::min(failures_ - 1, 5U));
    constexpr std::uint64_t kLongest = 60;
    if (failures_ >= kMostTries || seconds > kLongest) {
      give_up(result, str_cat("run the command again ", asked.value_or(0) > 0 ? str_cat("in ", *asked, " s") : "later",
                              "; it goes on where it stopped"));
    }
    note(str_cat("metactrl: ", what_, ": ", result.reason(), "; trying again in ", seconds, " s"));
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
  }
  void reached() { reached_ = true; }

 private:
  static constexpr unsigned kMostTries = 5;  // in a row that bring nothing

  [[noreturn]] void give_up(const HttpResult& result, const std::string& advice) const {
    throw ResourceError(kNoNetwork, str_cat(what_, " cannot be fetched: ", result.reason(), "; ", advice));
  }

  std::string what_;
  unsigned failures_ = 0;
  bool reached_ = false;
};

// --- the part ------------------------------------------------------------------------------------------------------

// What a part is a part of.
struct PartRecord {
  std::string address;
  std::string tag;  // what the server calls this version of the file
  std::uint64_t bytes = 0;
  std::string sha256;
};

PartRecord read_record(const fs::path& file) {
  PartRecord record;
  try {
    const Json json = Json::parse(internal::read_file(file.string()));
    json.at("address").get_to(record.address);
    json.at("tag").get_to(record.tag);
    json.at("bytes").get_to(record.bytes);
    json.at("sha256").get_to(record.sha256);
  } catch (const std::exception&) {  // none, or damaged: the part is of no use then
    return {};
  }
  return record;
}

void write_record(const fs::path& file, const PartRecord& record) {
  const Json json{{"address", record.address}, {"tag", record.tag}, {"bytes", record.bytes}, {"sha256", record.sha256}};
  internal::write_file(file.string(), json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

// --- a transfer ----------------------------------------------------------------------------------------------------

class Transfer {
 public:
  explicit Transfer(const Download& what)
      : what_(what),
        part_(what.target.string() + ".part"),
        record_file_(part_.string() + ".json"),
        file_(part_),
        record_{shown_address(what.address), "", what.bytes, what.sha256} {
    internal::remove_leftovers(record_file_.string());
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() {
    // The last piece may have been written in part.
    std::error_code gone;
    if (fs::file_size(part_, gone) == 0 || gone) drop();
  }

  Downloaded run() {
    take_up();
    Patience patience(shown_address(what_.address));
    while (!is_whole()) {
      const std::uint64_t most = most_;
      const HttpResult result = request();
      if (result.head.status != 0) patience.reached();
      if (result.head.status == kNotSatisfiable && have_ > 0) {
        begin_anew();  // the file is shorter than our part
        continue;
      }
      whole_ = result.succeeded() && (record_.bytes == 0 || have_ == record_.bytes);
      if (whole_) break;
      patience.wait(result.succeeded() ? cut_short() : result, most_ > most);
    }
    return finish();
  }

 private:
  static constexpr int kPartial = 206;
  static constexpr int kNotSatisfiable = 416;

  // An answer that ended in good order and too early.
  static HttpResult cut_short() {
    HttpResult result;
    result.curl = 18;
    result.errors = "less was sent than the file has";
    return result;
  }

  bool is_whole() const { return whole_ || (record_.bytes > 0 && have_ == record_.bytes); }
  bool is_local() const { return what_.address.starts_with("file://"); }

  // Goes on with what an earlier run left, if it belongs to this file.
  void take_up() {
    const PartRecord earlier = read_record(record_file_);
    const std::uint64_t bytes = fs::file_size(part_);
    const bool same = what_.sha256.empty() ? earlier.address == record_.address : earlier.sha256 == what_.sha256;
    const bool checkable = what_.never_changes || !earlier.tag.empty() || !earlier.sha256.empty();
    const bool fits =
        earlier.bytes == 0 || (bytes <= earlier.bytes && (what_.bytes == 0 || earlier.bytes == what_.bytes));
    if (bytes == 0 || !same || !checkable || !fits || is_local()) return begin_anew();
    record_ = {record_.address, earlier.tag, earlier.bytes, earlier.sha256};
    CountProgress progress(str_cat("of ", what_.title, " checked"), static_cast<double>(bytes), 0, bytes_text);
    internal::read_pieces(part_.string(), [&](std::string_view piece) {
      sum_.add(piece);
      have_ += piece.size();
      progress.done(static_cast<double>(have_));
    });
    most_ = have_;
    was_taken_up_ = true;
  }

  void begin_anew() {
    file_.empty();
    have_ = 0;
    whole_ = false;
    sum_ = internal::Sha256();
    record_ = {record_.address, "", what_.bytes, what_.sha256};
  }

  HttpResult request() {
    // Without a mark to know the file by, what there is cannot be gone on with.
    if (have_ > 0 && record_.tag.empty() && record_.sha256.empty() && !what_.never_changes) begin_anew();
    HttpRequest request;
    request.address = what_.address;
    request.token = what_.token;
    request.headers.emplace_back("Accept-Encoding: identity");
    if (have_ > 0) {
      request.headers.push_back(str_cat("Range: bytes=", have_, "-"));
      if (!record_.tag.empty()) request.headers.push_back("If-Range: " + record_.tag);
    }
    if (is_local()) show_progress();
    const HttpResult result = http_get(request, {.begin = [this](const HttpHead& head) { begin(head); },
                                                 .take = [this](std::string_view piece) { take(piece); }});
    progress_.reset();
    unmeasured_.reset();
    accepted_ = false;
    return result;
  }

  void begin(const HttpHead& head) {
    if (head.status < 200 || head.status >= 300) return;
    std::optional<std::uint64_t> bytes = number_in(head.field("content-length"));
    if (head.status == kPartial) {
      // "bytes 5-9/10"
      const std::string range = head.field("content-range");
      const std::size_t slash = std::min(range.find('/'), range.size());
      bytes = number_in(std::string_view(range).substr(std::min(slash + 1, range.size())));
      if (!range.starts_with(str_cat("bytes ", have_, "-"))) {
        throw InputError(record_.address,
                         str_cat("the server sends '", range, "' where bytes from ", have_, " on were asked for"),
                         "fetch it by other means, and add the file");
      }
    } else if (have_ > 0) {
      begin_anew();
    }
    if (const auto linked = number_in(head.field("x-linked-size"))) {
      if (bytes && *bytes != *linked) wrong_size(*bytes, *linked);
      bytes = linked;
    }
    if (bytes && record_.bytes != 0 && *bytes != record_.bytes) wrong_size(*bytes, record_.bytes);
    const std::string digest = sha256_in(head.field("x-linked-etag"));
    if (!digest.empty() && !record_.sha256.empty() && digest != record_.sha256) wrong_digest(digest);
    if (bytes) record_.bytes = *bytes;
    if (!digest.empty()) record_.sha256 = digest;
    record_.tag = strong_tag(head.field("etag"));
    if (record_.bytes > have_) check_room(part_.parent_path(), static_cast<double>(record_.bytes - have_));
    write_record(record_file_, record_);
    accepted_ = true;
    show_progress();
  }

  void show_progress() {
    if (record_.bytes == 0) {
      unmeasured_.emplace("fetching " + what_.title, "KB");
    } else {
      progress_.emplace(str_cat("of ", what_.title, " fetched"), static_cast<double>(record_.bytes),
                        static_cast<double>(have_), bytes_text);
    }
  }

  void take(std::string_view piece) {
    if (!accepted_ && !is_local()) return;  // a page that says why not
    if (record_.bytes > 0 && have_ + piece.size() > record_.bytes) wrong_size(have_ + piece.size(), record_.bytes);
    file_.write(piece);
    sum_.add(piece);
    have_ += piece.size();
    most_ = std::max(most_, have_);
    if (progress_) {
      const double percent = 100 * static_cast<double>(have_) / static_cast<double>(record_.bytes);
      progress_->done(static_cast<double>(have_), str_cat(", ", std::floor(percent), "%"));
    } else if (unmeasured_) {
      unmeasured_->set_states(have_ >> 10U);
    }
  }

  Downloaded finish() {
    const std::string found = sum_.hex();
    if (!record_.sha256.empty() && found != record_.sha256) {
      if (was_taken_up_) {  // what was kept may be damaged
        note(str_cat("metactrl: ", what_.title, ": what an earlier run left of it is damaged; fetching it anew"));
        was_taken_up_ = false;
        begin_anew();
        return run();
      }
      wrong_digest(found);
    }
    file_.sync();
    fs::rename(part_, what_.target);
    std::error_code ignored;
    fs::remove(record_file_, ignored);
    return {have_, found};
  }

  void drop() const {
    std::error_code ignored;
    fs::remove(part_, ignored);
    fs::remove(record_file_, ignored);
  }

  [[noreturn]] void wrong_size(std::uint64_t found, std::uint64_t expected) const {
    drop();
    throw InputError(
        record_.address,
        str_cat("is not the file it should be: the server sends ", found, " bytes and it should have ", expected),
        "nothing was kept; run the command again, or check the address");
  }
  [[noreturn]] void wrong_digest(const std::string& found) const {
    drop();
    throw InputError(record_.address,
                     str_cat("is not the file it should be: its SHA-256 is ", found, " and should be ", record_.sha256),
                     "nothing was kept; run the command again, or check the address");
  }

  const Download& what_;
  fs::path part_;
  fs::path record_file_;
  GrowingFile file_;
  PartRecord record_;
  internal::Sha256 sum_;
  std::uint64_t have_ = 0;
  std::uint64_t most_ = 0;  // that there ever was: more of it is progress
  bool whole_ = false;
  bool was_taken_up_ = false;
  bool accepted_ = false;  // the body is the file's
  std::optional<CountProgress> progress_;
  std::optional<ProgressLine> unmeasured_;  // for a file of unknown size
};

}  // namespace

RefusedError::RefusedError(const std::string& address, int status, std::string code)
    : InputError(address, str_cat("cannot be fetched: the server answered ", status),
                 status == 404 ? "there is no such file; check the address" : "check the address"),
      status_(status),
      code_(std::move(code)) {}

Downloaded download(const Download& what) {
  require_curl();
  return Transfer(what).run();
}

std::string fetch_text(const std::string& address, const std::string& token) {
  require_curl();
  Patience patience(shown_address(address));
  while (true) {
    HttpRequest request;
    request.address = address;
    request.token = token;
    request.headers.emplace_back("Accept: application/json");
    std::string text;
    const HttpResult result = http_get(request, {.begin = {}, .take = [&](std::string_view piece) {
                                                   constexpr std::size_t kMost = std::size_t{64} << 20U;
                                                   if (text.size() + piece.size() > kMost) {
                                                     throw InputError(shown_address(address), "the answer has no end");
                                                   }
                                                   text += piece;
                                                 }});
    if (result.succeeded()) return text;
    if (result.head.status != 0) patience.reached();
    patience.wait(result, false);
  }
}

void check_room(const fs::path& folder, double needed) {
  std::error_code failure;
  const fs::space_info space = fs::space(folder, failure);
  const auto available = static_cast<double>(space.available);
  if (failure || available >= needed) return;
  throw InputError(
      folder.string(),
      str_cat("there is not enough room: ", bytes_text(needed), " are needed and ", bytes_text(available), " are free"),
      kMakeRoom);
}

std::uint64_t bytes_present(const fs::path& target) {
  std::uint64_t bytes = 0;
  for (const fs::path& file : {target, fs::path(target.string() + ".part")}) {
    std::error_code failure;
    const std::uintmax_t size = fs::file_size(file, failure);
    if (!failure) bytes += size;
  }
  return bytes;
}

}  // namespace metactrl::cli
