// Where this library lies: plugins are found relative to it.
#pragma once

#include <filesystem>

namespace backplane::registry {

// The file that this code was loaded from, libbackplane or a program that it is linked into:
// absolute and without links. Empty if the loader doesn't say: never guessed from the working
// directory.
[[nodiscard]] std::filesystem::path own_path();

}  // namespace backplane::registry
