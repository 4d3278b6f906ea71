#include "arguments.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <utility>

#include "common/nearest.hpp"
#include "values.hpp"

namespace backplane::cli {
namespace {

namespace po = boost::program_options;

constexpr const char* kPositional = "words";  // no option can have this name: it is not in a table

constexpr Option kCommon[] = {
    {"help,h", Takes::nothing, "", "show this page"},
    {"json", Takes::nothing, "", "print one JSON document, as the last line of stdout"},
    {"quiet,q", Takes::nothing, "", "print errors alone"},
};

Error wrong(std::string message) {
  return {Code::invalid_argument, std::move(message)};
}

// "output" of "output,o".
std::string_view long_name(const Option& option) {
  const std::string_view name = option.name;
  return name.substr(0, name.find(','));
}

template <class F>
void for_each_option(const Verb& verb, F&& f) {
  for (const Option& option : verb.options) f(option);
  for (const Option& option : common_options()) f(option);
}

Error unknown_option(const Verb& verb, const std::string& name) {
  std::vector<std::string_view> names;
  for_each_option(verb, [&](const Option& option) { names.push_back(long_name(option)); });
  const std::string_view bare =
      std::string_view(name).substr(std::min(name.find_first_not_of('-'), name.size()));
  const std::string_view best = nearest(bare, names);
  std::string message = std::string(verb.name) + ": unknown option '" + name + "'";
  if (!best.empty()) message += "; did you mean '--" + std::string(best) + "'?";
  return wrong(std::move(message));
}

// What the library found, before it is compared with how often an option may come.
Result<po::variables_map> parse_words(const Verb& verb, const std::vector<std::string>& words) {
  namespace style = po::command_line_style;
  po::options_description description;
  for_each_option(verb, [&](const Option& option) {
    if (option.takes == Takes::nothing) {
      description.add_options()(option.name, "");
    } else {
      description.add_options()(option.name, po::value<std::vector<std::string>>()->composing(),
                                "");
    }
  });
  description.add_options()(kPositional, po::value<std::vector<std::string>>(), "");
  po::positional_options_description positional;
  positional.add(kPositional, -1);
  po::variables_map map;
  try {
    po::command_line_parser parser(words);
    parser.options(description).positional(positional);
    // Without guessing: an option that is added later must not change what a script means.
    parser.style(style::unix_style & ~style::allow_guessing);
    po::store(parser.run(), map);
  } catch (const po::unknown_option& error) {
    return unknown_option(verb, error.get_option_name());
  } catch (const std::exception& error) {
    return wrong(std::string(verb.name) + ": " + error.what());
  }
  return map;
}

std::string help_line(const Option& option) {
  const std::string_view name = option.name;
  const size_t comma = name.find(',');
  std::string line = comma == std::string_view::npos
                         ? "      "
                         : "  -" + std::string(name.substr(comma + 1)) + ", ";
  line += "--" + std::string(long_name(option));
  if (option.takes != Takes::nothing) line += " " + std::string(option.value);
  line.resize(std::max<size_t>(line.size() + 2, 34), ' ');
  return line + option.help + (option.takes == Takes::many ? " (repeatable)" : "") + "\n";
}

}  // namespace

std::span<const Option> common_options() {
  return kCommon;
}

std::string help_of(const Verb& verb) {
  std::string text = "usage: backplane " + std::string(verb.name) + " " + verb.synopsis + "\n\n";
  text += std::string(verb.description) + "\n\noptions:\n";
  for_each_option(verb, [&](const Option& option) { text += help_line(option); });
  text += "\nexample:\n";
  std::string_view example = verb.example;
  while (!example.empty()) {
    const size_t end = std::min(example.find('\n'), example.size());
    text += "  " + std::string(example.substr(0, end)) + "\n";
    example.remove_prefix(std::min(end + 1, example.size()));
  }
  return text;
}

Result<Arguments> Arguments::parse(const Verb& verb, std::span<const std::string> words) {
  const std::string name = verb.name;
  BP_ASSIGN_OR_RETURN(const po::variables_map map, parse_words(verb, {words.begin(), words.end()}));
  Arguments arguments;
  Status status = Ok{};
  for_each_option(verb, [&](const Option& option) {
    const std::string key(long_name(option));
    if (map.count(key) == 0) return;
    std::vector<std::string>& values = arguments.values_[key];
    if (option.takes == Takes::nothing) return;
    values = map[key].as<std::vector<std::string>>();
    if (option.takes == Takes::one && values.size() > 1) {
      status = wrong(name + ": --" + key + " is given " + std::to_string(values.size()) +
                     " times, once is allowed");
    }
    if (std::find(values.begin(), values.end(), "") != values.end()) {
      status = wrong(name + ": --" + key + " has an empty value");
    }
  });
  BP_TRY(std::move(status));
  if (map.count(kPositional) > 0) {
    arguments.positional_ = map[kPositional].as<std::vector<std::string>>();
  }
  if (arguments.has("help")) return arguments;
  const size_t count = arguments.positional_.size();
  if (count < verb.min_positional) return wrong(name + ": something is missing: " + verb.synopsis);
  if (count > verb.max_positional) {
    return wrong(name + ": '" + arguments.positional_[verb.max_positional] +
                 "' is one word too many");
  }
  return arguments;
}

bool Arguments::has(std::string_view name) const {
  return values_.contains(name);
}

std::string Arguments::value(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::string() : found->second.front();
}

std::span<const std::string> Arguments::values(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::span<const std::string>() : found->second;
}

Result<std::optional<int64_t>> Arguments::number(std::string_view name, int64_t least) const {
  if (!has(name)) return std::optional<int64_t>();
  const std::optional<int64_t> parsed = parse_integer(value(name));
  if (!parsed || *parsed < least) {
    return wrong("--" + std::string(name) + " is '" + value(name) +
                 "'; it must be a whole number of " + std::to_string(least) + " or more");
  }
  return parsed;
}

}  // namespace backplane::cli
