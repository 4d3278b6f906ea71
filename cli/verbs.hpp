// The verbs, one file each.
#pragma once

#include "arguments.hpp"

namespace backplane::cli {

extern const Verb kCheckVerb;
extern const Verb kInspectVerb;
extern const Verb kLowerVerb;
extern const Verb kPluginsVerb;
extern const Verb kRunVerb;
extern const Verb kVerifyVerb;

}  // namespace backplane::cli
