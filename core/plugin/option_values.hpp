// What single values of options may be, and how messages show them.
#pragma once

#include <backplane/option.h>
#include <backplane/result.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace backplane {

// The rules of names of data files: 1 to 200 ASCII letters, digits, '_', '-' and '.'; not first '.'
// or '-'; not ending in ".ptd"; no device name of Windows, with or without an extension.
[[nodiscard]] Status check_data_name(std::string_view name);

// Whether `value` may be given for `option`; the message says only what is allowed ("it is one of
// fp32, fp16").
[[nodiscard]] Status check_value(const bp_option_t& option, std::string_view value);

// `value` in quotes for a message: what can't be printed as \x.., cut after some 60 bytes.
[[nodiscard]] std::string quote(std::string_view value);

// "fp32, fp16, bf16".
[[nodiscard]] std::string join_words(const std::vector<std::string_view>& words);

// The choices of an ENUM, which its schema separates by '|'.
[[nodiscard]] std::vector<std::string_view> choices_of(const bp_option_t& option);

}  // namespace backplane
