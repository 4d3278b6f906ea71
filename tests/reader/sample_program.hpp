// One small program, as text that tests may change: y = relu(x + w), with u = 2 * x that nobody
// uses.
#pragma once

#include <string>

#include "zip_writer.hpp"

namespace backplane::testing {

struct SampleProgram {
  std::string program;           // models/model.json
  std::string weights;           // data/weights/model_weights_config.json
  std::string storage;           // data/weights/weight_0: four floats
  std::vector<ZipEntry> others;  // archive_format, archive_version, byteorder

  SampleProgram();
  [[nodiscard]] std::string file() const;
};

}  // namespace backplane::testing
