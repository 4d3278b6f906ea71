"""Writes table.inc: the operator schemas of the torch that runs this, with facts about them.

Usage: python table.py > ../table.inc

A row is a schema without "aten::", then fields separated by tabs; trailing empty ones are left off:

  flags       letters: c core ATen, i CompositeImplicitAutograd, r random, v view with a copy form of
              the same overload ("permute" -> "permute_copy"), n no out form at all
  out         the out form's overload, if it is not "out" (for the default overload) or "X_out" (for
              X). '=' in front: torch has it, with a row of its own; else its schema is the functional
              one plus outputs, whether torch has it or not
  functional  for operators that write to their arguments: the one that takes the same arguments and
              returns the new values instead ('-': the name without the last '_', same overload)

Out forms whose schema is the functional one plus outputs have no row.
"""

import re
import sys

import torch

OPTIONS = ["dtype", "layout", "device", "pin_memory"]


class Operator:
    def __init__(self, schema):
        self.schema = schema
        self.base, self.overload = schema.name, schema.overload_name
        self.name = self.base + ("." + self.overload if self.overload else "")
        self.text = str(schema).replace("aten::", "", 1)
        self.outs = [a for a in schema.arguments if a.is_out]
        self.inputs = [a for a in schema.arguments if not a.is_out]
        self.writes = [a for a in self.inputs if is_written(a)]

    def signature(self):
        return [(a.name, str(a.type)) for a in self.inputs]

    def kernel(self, key):
        return torch._C._dispatch_has_kernel_for_dispatch_key(self.name, key)

    def tags(self):
        packet = getattr(torch.ops, self.base.split("::")[0])
        return getattr(getattr(packet, self.base.split("::")[1]), self.overload or "default").tags


def is_written(argument):
    return argument.alias_info is not None and argument.alias_info.is_write


def is_tensors(type_):
    return str(type_) in ("Tensor", "List[Tensor]", "Optional[Tensor]")


def all_operators():
    found = {}
    for schema in torch._C._jit_get_all_schemas():
        if schema.name.split("::")[0] not in ("aten", "prims"):
            continue
        try:  # TorchScript's own operators are not in the dispatcher, and never in an export
            torch._C._dispatch_find_schema_or_throw(schema.name, schema.overload_name)
        except RuntimeError:
            continue
        operator = Operator(schema)
        found[operator.name] = operator
    return found


def derived_out_text(operator, overload):
    """The functional schema plus outputs, as core/ops derives it."""
    head, rest = operator.text.split("(", 1)
    arguments, returns = re.fullmatch(r"(.*)\) -> (.*)", rest).groups()
    lists = [str(r.type) == "List[Tensor]" for r in operator.schema.returns]
    outs, results = [], []
    for i, is_list in enumerate(lists):
        mark = "Tensor(%s!)%s" % (chr(ord("a") + i), "[]" if is_list else "")
        outs.append(mark + " out" + (str(i) if len(lists) > 1 else ""))
        results.append(mark)
    keyword_only = any(a.kwarg_only for a in operator.schema.arguments)
    separator = ", " if keyword_only or not arguments else ", *, "
    if not arguments:
        separator = "*, "
    results = "()" if any(lists) else results[0] if len(results) == 1 else "(%s)" % ", ".join(results)
    name = head.split(".")[0] + "." + overload
    arguments = re.sub(r"\([a-z](?: -> \*|\|[a-z])?\)", "", arguments)
    return "%s(%s%s%s) -> %s" % (name, arguments, separator, ", ".join(outs), results)


def find_out(operator, siblings):
    """torch's out form: the same inputs, else without tensor options, else with more that have defaults."""
    outs = [o for o in siblings if o.outs and len(o.outs) == len(operator.schema.returns)]
    mine = operator.signature()
    without_options = [a for a in mine if a[0] not in OPTIONS]

    def is_extended(other):
        theirs = other.signature()
        extra = [a.name for a in other.inputs if not any(a.name == m[0] for m in mine)]
        defaults = {a.name: a.has_default_value() for a in other.inputs}
        return [t for t in theirs if t[0] not in extra] == without_options and all(defaults[e] for e in extra)

    for matches in (lambda o: o.signature() == mine, lambda o: o.signature() == without_options, is_extended):
        for out in sorted(outs, key=lambda o: o.name):
            if matches(out):
                return out
    return None


def find_functional(operator, operators):
    namespace, base = operator.base.split("::")
    bases = []
    if re.fullmatch(r"__i\w+__", base):
        bases.append("__" + base[3:])
    if base.endswith("_"):
        bases.append(base[:-1])
    bases += [b + "_functional" for b in bases + [base]]
    types = [type_ for _, type_ in operator.signature()]
    for candidate in bases:
        found = [o for o in operators.values() if o.base == "%s::%s" % (namespace, candidate)]
        found = [o for o in found if not o.writes and not o.outs and [t for _, t in o.signature()] == types]
        same = [o for o in found if o.overload == operator.overload]
        if same or found:
            return (same or found)[0]
    return None


def find_copy(operator, operators):
    """View operators alias an input in a result, write nothing, and have a copy form."""
    arguments, returns = operator.text.split(") -> ", 1)
    name = operator.base + "_copy" + ("." + operator.overload if operator.overload else "")
    copy = operators.get(name)
    if copy is None or copy.signature() != operator.signature() or operator.writes:
        return None
    return copy if "(a" in arguments and "(a)" in returns else None


def rows(operators):
    by_base, derived = {}, set()
    for operator in operators.values():
        by_base.setdefault(operator.base, []).append(operator)
    result = {}
    for name, operator in sorted(operators.items()):
        flags, out_field, functional_field = "", "", ""
        tags = operator.tags()
        flags += "c" * (torch.Tag.core in tags)
        flags += "i" * operator.kernel("CompositeImplicitAutograd")
        flags += "r" * (torch.Tag.nondeterministic_seeded in tags)
        flags += "v" * (find_copy(operator, operators) is not None)
        returns = operator.schema.returns
        if operator.outs or operator.writes:
            functional = None if operator.outs else find_functional(operator, operators)
            if functional is not None:
                short = re.sub(r"_(\.|$)", r"\1", name)
                functional_field = "-" if functional.name == short else functional.name.replace("aten::", "")
        elif not returns or not all(is_tensors(r.type) for r in returns):
            flags += "n"
        else:
            default = operator.overload + "_out" if operator.overload else "out"
            out = find_out(operator, by_base[operator.base])
            if out is None:
                taken = operator.base + "." + default in operators
                out_field = (operator.overload or "default") + "_functional_out" if taken else ""
            elif out.text == derived_out_text(operator, out.overload):
                out_field = "" if out.overload == default else out.overload
                derived.add(out.name)
            else:
                out_field = "=" + out.overload
        result[name] = "\t".join([operator.text, flags, out_field, functional_field]).rstrip("\t")
    return [text for name, text in result.items() if name not in derived]


def main():
    table = rows(all_operators())
    print("// Generated by make/table.py from torch %s: do not edit. The fields are described there."
          % torch.__version__.split("+")[0])
    chunk, size = [], 0
    for row in table + [None]:
        if row is None or size + len(row) > 60000:  # compilers need not take longer literals
            print('R"(%s)",' % "\n".join(chunk))
            chunk, size = [], 0
        if row is not None:
            chunk.append(row)
            size += len(row) + 1
    print(len(table), "rows", file=sys.stderr)


main()
