"""Lowers and runs programs with the command, and judges them against float64.

An output passes if its error against float64 is at most 1.5 times PyTorch's own at the same dtype on
the same device, or under the dtype's floor. Writes the record: gpu, date, tree, passed, failed, ratios.
"""
import argparse, copy, datetime, json, os, subprocess, sys, tempfile, time
import torch
from safetensors.torch import load_file, save_file
from cases import cases

FLOOR = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}
ROUNDS = 3  # executions of one method: launched, captured, replayed


def outputs(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def error(got, exact):
    """Relative, of the whole tensor; NaN never passes."""
    difference = (got.double().cpu() - exact).norm() / exact.norm().clamp_min(1e-30)
    return float("inf") if difference.isnan() else float(difference)


def call(arguments, words):
    # Our libraries for the command alone: PyTorch has others of the same names.
    path = arguments.libraries + ":" + os.environ.get("LD_LIBRARY_PATH", "")
    environment = dict(os.environ, LD_LIBRARY_PATH=path)
    done = subprocess.run([arguments.command, *words], env=environment, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(f"{words[0]}: exit {done.returncode}: {done.stderr.strip()[-500:]}")


def judge(arguments, folder, name, module, inputs, dtype, shapes):
    """The worst output's (error, PyTorch's error). Raises where the command refuses or differs."""
    module = module.eval().to(dtype)
    inputs = tuple(i.to(dtype) for i in inputs)
    with torch.no_grad():
        exact = outputs(copy.deepcopy(module).double()(*(i.double() for i in inputs)))
        peer = outputs(copy.deepcopy(module).to(arguments.device)(*(i.to(arguments.device) for i in inputs)))
        program = torch.export.export(module, inputs, dynamic_shapes=shapes)
    base = os.path.join(folder, name)
    torch.export.save(program, base + ".pt2")
    save_file({f"in.{k}": i.contiguous() for k, i in enumerate(inputs)}, base + ".in.safetensors")
    call(arguments, ["lower", base + ".pt2", "--backend", arguments.backend, "-o", base + ".pte", "--quiet"])
    call(arguments, ["run", base + ".pte", "-i", base + ".in.safetensors", "-o", base + ".out.safetensors",
                     "--repeat", str(ROUNDS)])
    got = load_file(base + ".out.safetensors")
    worst = (0.0, 0.0)
    for k, (e, p) in enumerate(zip(exact, peer)):
        ours, theirs = error(got[f"out.{k}"], e), error(p, e)
        if got[f"out.{k}"].shape != e.shape or ours > max(1.5 * theirs, FLOOR[dtype]):
            raise RuntimeError(f"output {k} is off by {ours:.2e}, PyTorch's by {theirs:.2e}")
        worst = max(worst, (ours, theirs))
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", required=True)
    parser.add_argument("--libraries", default="")
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--tree", default="")
    parser.add_argument("--record")
    parser.add_argument("--only", nargs="*")
    arguments = parser.parse_args()
    arguments.device = "cuda" if torch.cuda.is_available() else "cpu"
    if arguments.backend == "cuda" and arguments.device != "cuda":
        sys.exit("suite: there is no GPU that PyTorch sees")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.manual_seed(0)
    failed, passed = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        for name, *case in cases():
            if arguments.only and name not in arguments.only:
                continue
            start = time.time()
            try:
                ours, theirs = judge(arguments, folder, name, *case)
                passed += 1
                print(f"ok {name}: {ours:.2e}, PyTorch {theirs:.2e}, {time.time() - start:.1f} s")
            except Exception as problem:  # one program's trouble is not the next one's
                failed[name] = str(problem).splitlines()[0] if str(problem) else repr(problem)
                print(f"not ok {name}: {failed[name]}")
    print(f"{passed} passed, {len(failed)} failed")
    if arguments.record:
        gpu = torch.cuda.get_device_name() if arguments.device == "cuda" else "none"
        record = {"gpu": gpu, "date": datetime.date.today().isoformat(), "tree": arguments.tree, "passed": passed,
                  "failed": len(failed), "failures": failed, "ratios": {}}
        with open(arguments.record, "w") as file:
            json.dump(record, file, indent=1)
            file.write("\n")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
