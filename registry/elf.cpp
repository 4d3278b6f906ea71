#include "registry/elf.hpp"

#include <backplane/plugin.h>
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

namespace backplane::registry {
namespace {

constexpr std::string_view kPrefix = "backplane_plugin_v";

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
#else
#error "add this machine's number"
#endif

std::string machine_name(uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_AARCH64:
      return "aarch64";
    case EM_386:
      return "32-bit x86";
    case EM_ARM:
      return "32-bit Arm";
    case EM_RISCV:
      return "RISC-V";
    case EM_PPC64:
      return "POWER";
    default:
      return "machine " + std::to_string(machine);
  }
}

Error damaged(std::string_view what) {
  return {Code::invalid_argument, "it is a damaged library: " + std::string(what)};
}

using Bytes = std::span<const std::byte>;

std::optional<Bytes> slice(Bytes bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return std::nullopt;
  return bytes.subspan(static_cast<size_t>(offset), static_cast<size_t>(size));
}

// Entry `index` of a table; the file need not be aligned.
template <class T>
std::optional<T> entry(Bytes table, uint64_t index) {
  if (index >= table.size() / sizeof(T)) return std::nullopt;
  T out;
  std::memcpy(&out, table.data() + index * sizeof(T), sizeof(T));
  return out;
}

// A text that ends in the string table; empty if it does not.
std::string_view text_at(Bytes strings, uint64_t offset) {
  if (offset >= strings.size()) return {};
  const auto* start = reinterpret_cast<const char*>(strings.data()) + offset;
  const size_t most = strings.size() - static_cast<size_t>(offset);
  const size_t length = ::strnlen(start, most);
  return length == most ? std::string_view() : std::string_view(start, length);
}

Result<Elf64_Ehdr> read_header(Bytes file) {
  const auto ident = slice(file, 0, EI_NIDENT);
  if (!ident || std::memcmp(ident->data(), ELFMAG, SELFMAG) != 0) {
    return Error{Code::invalid_argument, "it is not a shared library (no ELF file)"};
  }
  const auto byte = [&](size_t i) { return std::to_integer<int>((*ident)[i]); };
  if (byte(EI_CLASS) != ELFCLASS64 || byte(EI_DATA) != ELFDATA2LSB) {
    return Error{Code::incompatible, std::string("it is built for a ") +
                                         (byte(EI_CLASS) == ELFCLASS32 ? "32-bit" : "big-endian") +
                                         " machine, and this one is " + machine_name(kMachine)};
  }
  const auto header = entry<Elf64_Ehdr>(file.first(std::min(file.size(), sizeof(Elf64_Ehdr))), 0);
  if (!header) return damaged("it ends in its header");
  if (header->e_machine != kMachine) {
    return Error{Code::incompatible, "it is built for " + machine_name(header->e_machine) +
                                         ", and this machine is " + machine_name(kMachine)};
  }
  if (header->e_type != ET_DYN) {
    return Error{Code::invalid_argument,
                 "it is not a shared library (ELF type " + std::to_string(header->e_type) + ")"};
  }
  return *header;
}

struct Section {
  Bytes bytes;
  Bytes strings;  // of the section that it links to
};

// The first section of a type, with its strings.
Result<std::optional<Section>> find_section(Bytes file, const Elf64_Ehdr& header, uint32_t type) {
  if (header.e_shentsize != sizeof(Elf64_Shdr)) return damaged("its section headers");
  const auto table = slice(file, header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
  if (!table) return damaged("it ends before its section headers");
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = *entry<Elf64_Shdr>(*table, i);
    if (section.sh_type != type) continue;
    const auto linked = entry<Elf64_Shdr>(*table, section.sh_link);
    const auto bytes = slice(file, section.sh_offset, section.sh_size);
    const auto strings = linked ? slice(file, linked->sh_offset, linked->sh_size) : std::nullopt;
    if (!bytes || !strings) return damaged("a section lies outside of the file");
    return std::optional(Section{*bytes, *strings});
  }
  return std::optional<Section>();
}

}  // namespace

Result<Library> read_library(Bytes file) {
  BP_ASSIGN_OR_RETURN(const Elf64_Ehdr header, read_header(file));
  Library library;
  BP_ASSIGN_OR_RETURN(const auto symbols, find_section(file, header, SHT_DYNSYM));
  for (uint64_t i = 0; symbols; ++i) {
    const auto symbol = entry<Elf64_Sym>(symbols->bytes, i);
    if (!symbol) break;
    const std::string_view name = text_at(symbols->strings, symbol->st_name);
    if (symbol->st_shndx == SHN_UNDEF || !name.starts_with(kPrefix)) continue;
    library.symbols.push_back(
        {std::string(name), symbol->st_size, ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT});
  }
  BP_ASSIGN_OR_RETURN(const auto dynamic, find_section(file, header, SHT_DYNAMIC));
  for (uint64_t i = 0; dynamic; ++i) {
    const auto item = entry<Elf64_Dyn>(dynamic->bytes, i);
    if (!item || item->d_tag == DT_NULL) break;
    if (item->d_tag != DT_NEEDED) continue;
    library.needed.emplace_back(text_at(dynamic->strings, item->d_un.d_val));
  }
  return library;
}

Result<PluginSymbol> find_plugin_symbol(const Library& library) {
  std::string others;
  for (const PluginSymbol& symbol : library.symbols) {
    if (symbol.name == BP_PLUGIN_SYMBOL) {
      if (symbol.is_data) return symbol;
      return Error{Code::incompatible,
                   "its symbol " BP_PLUGIN_SYMBOL " is no plugin table (not a data symbol)"};
    }
    others += (others.empty() ? "" : " and ") + symbol.name.substr(kPrefix.size());
  }
  const std::string spoken = std::to_string(BP_ABI_MAJOR);
  if (others.empty()) {
    return Error{Code::invalid_argument,
                 "it is not a plugin: it does not export " BP_PLUGIN_SYMBOL};
  }
  return Error{Code::incompatible, "it speaks version " + others +
                                       " of the plugin contract, and this host speaks version " +
                                       spoken + ": take a build of the plugin for version " +
                                       spoken};
}

}  // namespace backplane::registry
