// The plugin: a library of kernels and nothing else.
#include <backplane/plugin.hpp>

#include "portable/library.hpp"

namespace backplane::portable {
namespace {

struct Portable {
  static constexpr sdk::Info kInfo = {.name = "portable",
                                      .version = BACKPLANE_VERSION,
                                      .vendor = "Backplane",
                                      .license = "Apache-2.0",
                                      .data_placement = 0};

  static Result<std::unique_ptr<Portable>> create(sdk::Host, const sdk::Options&) {
    return std::make_unique<Portable>();
  }
  const void* extension(std::string_view id) {  // NOLINT: a slot of the table
    return id == BP_EXT_KERNELS ? library() : nullptr;
  }
};

}  // namespace
}  // namespace backplane::portable

BP_PLUGIN(backplane::portable::Portable)
