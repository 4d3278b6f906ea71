// A plugin in C++: write a class, then BP_PLUGIN(MyBackend).
//
//   struct MyBackend {
//     static constexpr backplane::sdk::Info kInfo = {.name = "mine", .version = "1.0", …};
//     static Result<std::unique_ptr<MyBackend>> create(sdk::Host, const sdk::Options&);
//     Status partition(const sdk::LowerRequest&, const sdk::Claims&);
//     Status compile(const sdk::LowerRequest&, const sdk::Emitter&);
//     Result<std::unique_ptr<MyProgram>> load(const sdk::LoadRequest&);
//   };
//   struct MyProgram { Result<std::unique_ptr<MyInstance>> instance(const bp_instance_args_t&); };
//   struct MyInstance { Status execute(const sdk::Run&); };
//
// The slots of the table are those whose member functions the classes have (all are listed at
// make_table); a member of another signature does not compile. Their calls, threads and ownership
// are plugin.h's. An Error's message is the reason that the host shows; an exception that comes out
// of a member becomes one. Needs C++20 and no library; RTTI and exceptions may be off.
#pragma once

#include <backplane/execution.hpp>
#include <backplane/lowering.hpp>
#include <backplane/trampolines.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace backplane::sdk {

// What the table says of a plugin: static data, read before any of its code runs.
struct Info {
  std::string_view name, version, vendor, license;
  uint32_t data_placement = BP_DATA_INLINE | BP_DATA_EXTERNAL;
  uint32_t min_host_minor = 0;
  std::span<const bp_option_t> options = {};
  std::span<const bp_device_kind_t> device_kinds = {};
  std::span<const bp_str_t> delegate_ids = {};
  std::span<const bp_str_t> kept_ops = {};
};

template <class B>
consteval bp_plugin_t make_table() {
  const Info& info = B::kInfo;
  bp_plugin_t table{};
  table.magic = BP_MAGIC;
  table.struct_size = sizeof(bp_plugin_t);
  table.abi_minor = BP_ABI_MINOR;
  table.min_host_minor = info.min_host_minor;
  table.build_flags = BP_BUILD_FLAGS;
  table.data_placement = info.data_placement;
  table.name = text(info.name);
  table.version = text(info.version);
  table.vendor = text(info.vendor);
  table.license = text(info.license);
  table.options = array_of(info.options);
  table.device_kinds = array_of(info.device_kinds);
  table.delegate_ids = array_of(info.delegate_ids);
  table.kept_ops = array_of(info.kept_ops);

  // static Result<std::unique_ptr<B>> create(Host, const Options&)
  table.create = create<B>;
  table.destroy = destroy<B>;
  // Result<std::vector<bp_device_t>> devices()
  if constexpr (requires { &B::devices; }) table.devices = devices<B>;
  // Status validate(uint32_t phase, const Options&)
  if constexpr (requires { &B::validate; }) table.validate = validate<B>;
  // Status partition(const LowerRequest&, const Claims&)
  if constexpr (requires { &B::partition; }) table.partition = partition<B>;
  // Status compile(const LowerRequest&, const Emitter&)
  if constexpr (requires { &B::compile; }) table.compile = compile<B>;
  // Result<Fit> check(std::string_view fingerprint, bp_devref_t)
  if constexpr (requires { &B::check; }) table.check = check<B>;
  // Result<std::unique_ptr<Program>> load(const LoadRequest&)
  if constexpr (requires { &B::load; }) {
    using Program = ProgramOf<B>;
    using Instance = InstanceOf<Program>;
    table.load = load<B>;
    table.unload = unload<Program>;
    // Result<std::unique_ptr<Instance>> Program::instance(const bp_instance_args_t&)
    table.instance_create = instance_create<Program>;
    table.instance_destroy = instance_destroy<Instance>;
    // Status Instance::execute(const Run&), finish(const Run&)
    table.execute = execute<Instance>;
    if constexpr (requires { &Instance::finish; }) table.finish = finish<Instance>;
  }
  // Result<void*> alloc(const bp_alloc_t&); void free(bp_devref_t, void* memory, void* stream)
  if constexpr (requires { &B::alloc; }) {
    table.alloc = alloc<B>;
    table.free = free<B>;
  }
  // Status copy(const bp_tensor_t& to, const bp_tensor_t& from, void* stream)
  if constexpr (requires { &B::copy; }) table.copy = copy<B>;
  // Result<void*> stream_create(bp_devref_t); void stream_destroy(void*); Status stream_sync(void*)
  if constexpr (requires { &B::stream_create; }) {
    table.stream_create = stream_create<B>;
    table.stream_destroy = stream_destroy<B>;
    table.stream_sync = stream_sync<B>;
  }
  // Status event_record(void* stream, void*& event); Status event_wait(void* stream, void* event);
  // void event_destroy(void* event)
  if constexpr (requires { &B::event_record; }) {
    table.event_record = event_record<B>;
    table.event_wait = event_wait<B>;
    table.event_destroy = event_destroy<B>;
  }
  // const void* extension(std::string_view id)
  if constexpr (requires { &B::extension; }) table.extension = extension<B>;
  return table;
}

}  // namespace backplane::sdk

// Exports the table of `Backend`; once in a plugin, outside of any namespace.
#define BP_PLUGIN(Backend) \
  constinit const bp_plugin_t backplane_plugin_v1 = ::backplane::sdk::make_table<Backend>();
