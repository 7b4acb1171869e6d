#include "support/mapped_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "metactrl/error.h"
#include "support/files.h"

namespace metactrl::internal::mapped_file_test {
namespace {

class MappedFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("metactrl_mapped_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string written(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  static void expect_refused(const std::string& file, const std::string& why) {
    try {
      MappedFile::open(file);
      ADD_FAILURE() << file << " was mapped";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(file), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
  }

  std::filesystem::path folder_;
};

TEST_F(MappedFileTest, HasTheBytesOfTheFile) {
  std::string bytes("a\0b\xff\n", 5);
  while (bytes.size() < 20'000) bytes += bytes;  // several pages, and a part of one
  const std::shared_ptr<const MappedFile> file = MappedFile::open(written("f", bytes));
  EXPECT_EQ(file->bytes(), bytes);
  EXPECT_EQ(
      reinterpret_cast<std::uintptr_t>(file->bytes().data()) % static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE)),
      0U);
}

TEST_F(MappedFileTest, AnEmptyFileHasNone) { EXPECT_TRUE(MappedFile::open(written("f", ""))->bytes().empty()); }

// write_file replaces, so what is mapped stays what it was.
TEST_F(MappedFileTest, KeepsTheFileThatWasReplaced) {
  const std::shared_ptr<const MappedFile> before = MappedFile::open(written("f", "before"));
  write_file(path("f"), "after, and longer");
  EXPECT_EQ(before->bytes(), "before");
  EXPECT_EQ(MappedFile::open(path("f"))->bytes(), "after, and longer");
  std::filesystem::remove(path("f"));
  EXPECT_EQ(before->bytes(), "before");
}

TEST_F(MappedFileTest, WhatIsNoPlainFileIsRefused) {
  expect_refused(path("none"), "cannot be opened");
  expect_refused(folder_.string(), "is not a plain file");
  expect_refused("/dev/null", "is not a plain file");
}

}  // namespace
}  // namespace metactrl::internal::mapped_file_test
