// Signals, so that the command ends by itself and says why.
#pragma once

#include <cstdint>

namespace backplane::cli {

// A reader that goes away is a failed write, not the end of the process.
void ignore_broken_pipes();

// A number that becomes 1 when the user interrupts. A second interrupt ends the process as usual.
[[nodiscard]] const volatile int32_t* cancel_on_interrupt();

}  // namespace backplane::cli
