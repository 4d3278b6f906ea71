// How `run` shows what a method gave.
#pragma once

#include <cstdint>

#include "console.hpp"
#include "method_io.hpp"

namespace backplane::cli {

// A line for each output, and the array `outputs` of `json`. `top` > 0: also that many of the
// largest elements of each row of a float32 output, as classes.
void show_results(const Console& console, const MethodResult& result, int64_t top,
                  JsonWriter& json);

}  // namespace backplane::cli
