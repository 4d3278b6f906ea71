// What `inspect` says of each kind of file: text for people and a JSON document, made together.
#pragma once

#include <backplane/program.hpp>
#include <backplane/result.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "console.hpp"

namespace backplane::cli {

// Each fills `json` with one object and prints lines to `console`.
Status inspect_pt2(const std::string& path, const std::string& model, bool graph,
                   const Console& console, JsonWriter& json);
Status inspect_pte(const std::string& path, bool graph, const Console& console, JsonWriter& json);
Status inspect_ptd(const std::string& path, const Console& console, JsonWriter& json);

// A line for each slot, and a JSON array called `array`: "in.0  x  float32[1, 8]".
struct SlotText {
  std::string key;  // empty: not a tensor
  std::string name;
  std::string type;
};
void show_slots(std::string_view array, const std::vector<SlotText>& slots, const Console& console,
                JsonWriter& json);

// "aten::add.out 3" lines and a JSON object under `member`.
void show_counts(std::string_view member, const std::map<std::string, size_t>& counts,
                 const Console& console, JsonWriter& json);

}  // namespace backplane::cli
