// An apartment of our own for tests of Watch-And-Help: its files in a folder that goes away, and its tasks.
//
//     SmallApartment home;
//     home.add_task("on", "apple", "coffeetable");
//     std::vector<HelpTask> tasks = home.read();
//
// The kitchen (12) has a fridge (20, closed, no switch state), a dishwasher (21, closed, off), a kitchentable (22), a
// cupboard (23, closed, also a surface), a safe (27, closed and switched on: nobody can open it) and a shelf (29, open,
// without a door); the livingroom (13) two coffeetables (25, 26) and a lamp (28, off); the bathroom (11) nothing.
// An apple (30) is in the cupboard, another (31) on the kitchentable, with a plate (32) and on that a fork (33); a
// pearl (34) is in the safe, a mug (35) on coffeetable 26, a radio (36, off) on the shelf, an egg (37) in the fridge.
#ifndef METACTRL_TESTS_SUPPORT_SMALL_APARTMENT_H_
#define METACTRL_TESTS_SUPPORT_SMALL_APARTMENT_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "benchmarks/watch_and_help/task_file.h"

namespace metactrl::testing {

class SmallApartment {
 public:
  using Json = nlohmann::json;

  SmallApartment() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("metactrl_apartment_" + std::to_string(::getpid()) + "_" + std::string(test->name()));
    std::filesystem::create_directories(folder_);
    room(11, "bathroom");
    room(12, "kitchen");
    room(13, "livingroom");
    thing(20, "fridge", 12, {"CAN_OPEN", "CONTAINERS", "HAS_SWITCH"}, {"CLOSED"});
    thing(21, "dishwasher", 12, {"CAN_OPEN", "CONTAINERS", "HAS_SWITCH"}, {"CLOSED", "OFF"});
    thing(22, "kitchentable", 12, {"SURFACES"});
    thing(23, "cupboard", 12, {"CAN_OPEN", "CONTAINERS", "SURFACES"}, {"CLOSED"});
    thing(25, "coffeetable", 13, {"SURFACES", "MOVABLE"});
    thing(26, "coffeetable", 13, {"SURFACES", "MOVABLE"});
    thing(27, "safe", 12, {"CAN_OPEN", "CONTAINERS", "HAS_SWITCH"}, {"CLOSED", "ON"});
    thing(28, "lamp", 13, {"HAS_SWITCH"}, {"OFF"});
    thing(29, "shelf", 12, {"CONTAINERS"});
    thing(30, "apple", 12, {"GRABBABLE"}, {}, "INSIDE", 23);
    thing(31, "apple", 12, {"GRABBABLE"}, {}, "ON", 22);
    thing(32, "plate", 12, {"GRABBABLE", "SURFACES"}, {}, "ON", 22);
    thing(33, "fork", 12, {"GRABBABLE"}, {}, "ON", 32);
    thing(34, "pearl", 12, {"GRABBABLE"}, {}, "INSIDE", 27);
    thing(35, "mug", 13, {"GRABBABLE"}, {}, "ON", 26);
    thing(36, "radio", 12, {"GRABBABLE", "HAS_SWITCH"}, {"OFF"}, "INSIDE", 29);
    thing(37, "egg", 12, {"GRABBABLE"}, {}, "INSIDE", 20);
  }
  SmallApartment(const SmallApartment&) = delete;
  SmallApartment& operator=(const SmallApartment&) = delete;
  ~SmallApartment() { std::filesystem::remove_all(folder_); }

  static Json goal(const std::string& rel, const std::string& object, const std::string& target, int count = 1) {
    Json line = {{"rel", rel}, {"target", target}, {"count", count}};
    if (!object.empty()) line["object"] = object;
    return line;
  }
  // The tasks' numbers are 1, 2, ...
  Json& add_task(const std::vector<Json>& goals) {
    tasks_.push_back({{"id", static_cast<int>(tasks_.size()) + 1},
                      {"family", "tidy_up"},
                      {"scene", 1},
                      {"init_room", "bathroom"},
                      {"instructions", {"Please  tidy\nup.", "Tidy up, now!"}},
                      {"goal", goals},
                      {"remove", Json::array()},
                      {"add", Json::array()},
                      {"agent_id", 1}});
    return tasks_.back();
  }
  Json& add_task(const std::string& rel, const std::string& object, const std::string& target, int count = 1) {
    return add_task({goal(rel, object, target, count)});
  }
  Json& nodes() { return nodes_; }
  Json& edges() { return edges_; }

  std::string folder() const { return folder_.string(); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string tasks_file() const { return path("tasks.jsonl"); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  // Everything, as our task files have it.
  void write_all() const {
    write("scene_1.json", Json({{"nodes", nodes_}, {"edges", edges_}}).dump());
    write("object_classes.json", R"({"apple": {"properties": ["GRABBABLE"], "states": []}})");
    std::string lines;
    for (const Json& task : tasks_) lines += task.dump() + "\n";
    write("tasks.jsonl", lines);
  }
  std::vector<benchmarks::watch_and_help::HelpTask> read() const {
    write_all();
    return benchmarks::watch_and_help::read_tasks(tasks_file(), folder());
  }
  // The only one.
  benchmarks::watch_and_help::HelpTask task() const { return read().at(0); }

 private:
  void room(int id, const std::string& name) {
    nodes_.push_back({{"id", id},
                      {"class_name", name},
                      {"category", "Rooms"},
                      {"properties", Json::array()},
                      {"states", Json::array()}});
  }
  void thing(int id, const std::string& name, int room, const std::vector<std::string>& properties,
             const std::vector<std::string>& states = {}, const std::string& relation = "", int place = 0) {
    nodes_.push_back(
        {{"id", id}, {"class_name", name}, {"category", "Props"}, {"properties", properties}, {"states", states}});
    edges_.push_back({id, "INSIDE", room});
    if (!relation.empty()) edges_.push_back({id, relation, place});
  }

  std::filesystem::path folder_;
  Json nodes_ = Json::array();
  Json edges_ = Json::array();
  std::vector<Json> tasks_;
};

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_SMALL_APARTMENT_H_
