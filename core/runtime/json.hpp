// JSON as our named data hold it: writing strings, and reading members with errors that name them.
#pragma once

#include <backplane/result.hpp>
#include <string>
#include <string_view>

namespace backplane::runtime {

// Appends `text` (UTF-8) in quotes, escaped.
void append_json_string(std::string& out, std::string_view text);

// Appends `"name":`, after a comma unless an object has just been opened.
void append_json_member(std::string& out, std::string_view name);

}  // namespace backplane::runtime
