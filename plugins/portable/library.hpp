// All kernels of this library, as the host sees them.
#pragma once

#include <backplane/ext/kernels.h>

namespace backplane::portable {

// Valid for the life of the process. [any thread]
[[nodiscard]] const bp_kernels_t* library();

}  // namespace backplane::portable
