// The C functions that plugin.hpp fills a table with, made from a class's members.
//
// Each turns a Result into a code and a reason, and lets no exception out. Behind a C handle is a
// Held: the object, and the host to tell reasons to.
#pragma once

#include <backplane/execution.hpp>
#include <backplane/lowering.hpp>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace backplane::sdk {

// What B::check answers.
struct Fit {
  uint32_t verdict = BP_FIT;
  std::string reason = {};  // unless BP_FIT
};

template <class T>
struct Held {
  Host host;
  std::unique_ptr<T> object;
};
template <class T, class Handle>
[[nodiscard]] Held<T>& held(Handle* handle) {
  return *reinterpret_cast<Held<T>*>(handle);
}

template <class T>
std::type_identity<T> pointee(Result<std::unique_ptr<T>>);
template <class B>
using ProgramOf =
    typename decltype(pointee(std::declval<B&>().load(std::declval<const LoadRequest&>())))::type;
template <class P>
using InstanceOf = typename decltype(pointee(
    std::declval<P&>().instance(std::declval<const bp_instance_args_t&>())))::type;

// Runs `call`, which returns a Status; reasons and exceptions go to the host.
template <class F>
int32_t guarded(const Host& host, F&& call) noexcept {
#if defined(__cpp_exceptions)
  try {
#endif
    const Status status = call();
    return status.ok() ? int32_t{BP_OK} : host.fail(status.error());
#if defined(__cpp_exceptions)
  } catch (const std::bad_alloc&) {
    return host.fail({Code::out_of_memory, "out of host memory"});
  } catch (const std::exception& e) {
    return host.fail({Code::internal, std::string("unexpected exception: ") + e.what()});
  } catch (...) {
    return host.fail({Code::internal, "unexpected exception"});
  }
#endif
}

// For functions without a result: what they fail with is logged.
template <class F>
void logged([[maybe_unused]] const Host& host, F&& call) noexcept {
#if defined(__cpp_exceptions)
  try {
    call();
  } catch (...) {
    host.log(BP_LOG_ERROR, "unexpected exception while giving something back");
  }
#else
  call();
#endif
}

// Puts the object of `made` behind a new handle.
template <class T, class Handle>
Status hand_out(const Host& host, Result<std::unique_ptr<T>> made, Handle** out) {
  BP_ASSIGN_OR_RETURN(std::unique_ptr<T> object, std::move(made));
  if (object == nullptr) return Error{Code::internal, "nothing was made"};
  auto owner = std::make_unique<Held<T>>(Held<T>{host, std::move(object)});
  *out = reinterpret_cast<Handle*>(owner.release());
  return Ok{};
}
inline Status hand_out(Result<void*> made, void** out) {
  BP_ASSIGN_OR_RETURN(*out, std::move(made));
  return Ok{};
}

template <class T, class Handle>
void drop(Handle* handle) noexcept {
  if (handle == nullptr) return;
  const Host host = held<T>(handle).host;
  logged(host, [&] { delete &held<T>(handle); });
}

// Calls `member` with the object behind a handle.
template <class T, class Handle, class F>
int32_t call(Handle* handle, F&& member) noexcept {
  Held<T>& self = held<T>(handle);
  return guarded(self.host, [&] { return member(*self.object, self.host); });
}
template <class T, class Handle, class F>
void call_logged(Handle* handle, F&& member) noexcept {
  Held<T>& self = held<T>(handle);
  logged(self.host, [&] { member(*self.object); });
}

template <class B>
int32_t create(const bp_host_t* table, bp_array_t options, bp_backend_t** out) {
  const Host host(table);
  return guarded(host, [&] { return hand_out(host, B::create(host, Options(options)), out); });
}
template <class B>
void destroy(bp_backend_t* backend) {
  drop<B>(backend);
}

template <class B>
int32_t devices(bp_backend_t* backend, bp_device_t* out, uint32_t stride, uint32_t capacity,
                uint32_t* count) {
  return call<B>(backend, [&](B& self, Host) -> Status {
    BP_ASSIGN_OR_RETURN(const std::vector<bp_device_t> list, self.devices());
    *count = static_cast<uint32_t>(list.size());
    for (uint32_t i = 0; i < std::min(capacity, *count); ++i) {
      auto* place = reinterpret_cast<char*>(out) + uint64_t{i} * stride;
      uint32_t size = 0;  // as the host knows the struct: it has set struct_size
      std::memcpy(&size, place, sizeof size);
      bp_device_t device = list[i];
      device.struct_size = size;
      std::memcpy(place, &device, std::min<size_t>({size, stride, sizeof device}));
    }
    return Ok{};
  });
}

template <class B>
int32_t validate(bp_backend_t* backend, uint32_t phase, bp_array_t options) {
  return call<B>(backend, [&](B& self, Host) { return self.validate(phase, Options(options)); });
}
template <class B>
int32_t partition(bp_backend_t* backend, const bp_lower_t* request) {
  return call<B>(backend, [&](B& self, Host host) {
    return self.partition(LowerRequest(*request), Claims(host, request->sink));
  });
}
template <class B>
int32_t compile(bp_backend_t* backend, const bp_lower_t* request) {
  return call<B>(backend, [&](B& self, Host host) {
    return self.compile(LowerRequest(*request), Emitter(host, request->sink));
  });
}

template <class B>
int32_t check(bp_backend_t* backend, bp_str_t fingerprint, bp_devref_t device, uint32_t* fit) {
  return call<B>(backend, [&](B& self, Host host) -> Status {
    BP_ASSIGN_OR_RETURN(const Fit answer, self.check(view(fingerprint), device));
    *fit = answer.verdict;
    if (*fit != BP_FIT) host.fail({Code::incompatible, answer.reason});
    return Ok{};
  });
}
template <class B>
int32_t load(bp_backend_t* backend, const bp_load_t* request, bp_program_t** out) {
  return call<B>(backend, [&](B& self, Host host) {
    return hand_out(host, self.load(LoadRequest(host, *request)), out);
  });
}
template <class P>
void unload(bp_program_t* program) {
  drop<P>(program);
}
template <class P>
int32_t instance_create(bp_program_t* program, const bp_instance_args_t* args,
                        bp_instance_t** out) {
  return call<P>(program,
                 [&](P& self, Host host) { return hand_out(host, self.instance(*args), out); });
}
template <class I>
void instance_destroy(bp_instance_t* instance) {
  drop<I>(instance);
}
template <class I>
int32_t execute(bp_instance_t* instance, const bp_run_t* run) {
  return call<I>(instance, [&](I& self, Host host) { return self.execute(Run(host, *run)); });
}
template <class I>
int32_t finish(bp_instance_t* instance, const bp_run_t* run) {
  return call<I>(instance, [&](I& self, Host host) { return self.finish(Run(host, *run)); });
}

template <class B>
int32_t alloc(bp_backend_t* backend, const bp_alloc_t* request, void** out) {
  return call<B>(backend, [&](B& self, Host) { return hand_out(self.alloc(*request), out); });
}
template <class B>
void free(bp_backend_t* backend, bp_devref_t device, void* memory, void* stream) {
  call_logged<B>(backend, [&](B& self) { self.free(device, memory, stream); });
}
template <class B>
int32_t copy(bp_backend_t* backend, const bp_tensor_t* to, const bp_tensor_t* from, void* stream) {
  return call<B>(backend, [&](B& self, Host) { return self.copy(*to, *from, stream); });
}
template <class B>
int32_t stream_create(bp_backend_t* backend, bp_devref_t device, void** out) {
  return call<B>(backend, [&](B& self, Host) { return hand_out(self.stream_create(device), out); });
}
template <class B>
void stream_destroy(bp_backend_t* backend, void* stream) {
  call_logged<B>(backend, [&](B& self) { self.stream_destroy(stream); });
}
template <class B>
int32_t stream_sync(bp_backend_t* backend, void* stream) {
  return call<B>(backend, [&](B& self, Host) { return self.stream_sync(stream); });
}
template <class B>
int32_t event_record(bp_backend_t* backend, void* stream, void** event) {
  return call<B>(backend, [&](B& self, Host) { return self.event_record(stream, *event); });
}
template <class B>
int32_t event_wait(bp_backend_t* backend, void* stream, void* event) {
  return call<B>(backend, [&](B& self, Host) { return self.event_wait(stream, event); });
}
template <class B>
void event_destroy(bp_backend_t* backend, void* event) {
  call_logged<B>(backend, [&](B& self) { self.event_destroy(event); });
}
template <class B>
const void* extension(bp_backend_t* backend, bp_str_t id) {
  const void* found = nullptr;
  call_logged<B>(backend, [&](B& self) { found = self.extension(view(id)); });
  return found;
}

}  // namespace backplane::sdk
