"""Writes ops/schemas.txt: what torch says of every eighth operator's parameters and results.

Usage: python schemas.py > ../ops/schemas.txt

A line is: name, parameters, results, separated by tabs. A parameter is "[*]KIND NAME[!][=DEFAULT]";
'*' keyword-only, '!' written, KIND with "[n]" for lists and '?' where None may stand.
"""

import torch

KINDS = {
    "Tensor": "tensor", "number": "scalar", "int": "integer", "SymInt": "integer", "float": "floating",
    "SymFloat": "floating", "bool": "boolean", "SymBool": "boolean", "str": "string",
    "ScalarType": "dtype", "Layout": "layout", "MemoryFormat": "memory_format", "Device": "device",
    "Generator": "generator", "Dimname": "dimname", "DeviceIndex": "integer", "Scalar": "scalar",
}


def kind(type_, size):
    text = str(type_)
    if text.startswith("Optional["):
        return kind(text[9:-1], size) + "?"
    if text.startswith("List["):
        return kind(text[5:-1], None) + "[%s]" % (size or "")
    return KINDS.get(text, "other")


def value(default, is_float):
    if isinstance(default, list):
        return "[%s]" % ",".join(value(d, is_float) for d in default)
    if isinstance(default, (bool, type(None))):
        return str(default)
    if isinstance(default, str):
        return '"%s"' % default
    return "%.17g" % default if is_float or isinstance(default, float) else str(default)


def parameter(argument):
    text = ("*" if argument.kwarg_only else "") + kind(argument.real_type, argument.N) + " " + argument.name
    if argument.alias_info is not None and argument.alias_info.is_write:
        text += "!"
    if argument.has_default_value():
        text += "=" + value(argument.default_value, "float" in str(argument.real_type))
    return text


schemas = {}
for schema in torch._C._jit_get_all_schemas():
    if schema.name.startswith("aten::"):
        try:
            torch._C._dispatch_find_schema_or_throw(schema.name, schema.overload_name)
        except RuntimeError:
            continue
        name = schema.name + ("." + schema.overload_name if schema.overload_name else "")
        schemas[name] = schema

print("%d aten operators of torch %s" % (len(schemas), torch.__version__.split("+")[0]))
for name in sorted(schemas)[::8]:
    schema = schemas[name]
    results = [kind(r.real_type, r.N) for r in schema.returns]
    print("%s\t%s\t%s" % (name, ";".join(parameter(a) for a in schema.arguments), ";".join(results)))
