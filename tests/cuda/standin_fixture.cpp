#include "cuda/standin_fixture.hpp"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

namespace standin {

Fixture::Fixture() {
  setenv(backplane::cuda::kLibraryPathVariable, STANDIN_FOLDER, 1);
  void* handle = dlopen(STANDIN_FOLDER "/libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  const char* why = handle == nullptr ? dlerror() : "";
  REQUIRE_MESSAGE(handle != nullptr, std::string(why));
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    const bool is_there = function != nullptr;
    REQUIRE_MESSAGE(is_there, name);
  };
  find(control.counts, "standin_counts");
  find(control.fail, "standin_fail");
  find(control.recover, "standin_recover");
  find(control.device, "standin_device");
}

Fixture::~Fixture() {
  control.recover();
  control.device(uint64_t{16} << 30U, 90);
}

}  // namespace standin
