// Runs a lowered program on zeros and prints how many numbers come out.
//
//   c++ -std=c++20 run.cpp -o run $(pkg-config --cflags --libs backplane) && ./run digits.pte
#include <backplane/plugins.hpp>
#include <backplane/program.hpp>

#include <cstdio>

using namespace backplane;

Status run(const char* path) {
  Plugins plugins = Plugins::standard();
  BP_ASSIGN_OR_RETURN(const Program program, Program::load(path, plugins));
  BP_ASSIGN_OR_RETURN(Session session, program.session());
  BP_ASSIGN_OR_RETURN(Method method, session.method("forward"));
  std::vector<Tensor> given;
  for (size_t i = 0; i < method.info().inputs.size(); ++i) {
    std::vector<int64_t> sizes;
    for (const DimBounds& dim : method.info().inputs[i].dims) sizes.push_back(dim.min);
    BP_ASSIGN_OR_RETURN(Tensor zeros, Tensor::zeros(method.info().inputs[i].dtype, sizes));
    given.push_back(std::move(zeros));
    BP_TRY(method.set_input(i, given.back().view()));
  }
  BP_TRY(method.execute());
  BP_ASSIGN_OR_RETURN(const TensorView out, method.output(0));
  std::printf("%lld numbers\n", static_cast<long long>(out.numel()));
  return Ok{};
}

int main(int argc, char** argv) {
  const Status status = argc == 2 ? run(argv[1]) : Status(Error{Code::invalid_argument, "usage: run PROGRAM.pte"});
  if (!status.ok()) std::fprintf(stderr, "run: %s\n", status.error().message.c_str());
  return status.ok() ? 0 : 1;
}
