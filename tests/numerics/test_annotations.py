import ast
import importlib
import pkgutil
from pathlib import Path

import jaxtyping
import pytest
import torch

import numerics
from numerics.softmax_regression.reference import data_after_attention


def test_a_wrong_shape_is_refused():
    data, square = torch.randn(3, 2), torch.randn(2, 2)
    data_after_attention(data, square, square)
    with pytest.raises(jaxtyping.TypeCheckError, match="parameter 'V'"):
        data_after_attention(data, square, torch.randn(3, 3))


def test_a_wrong_type_of_numbers_is_refused():
    data, square = torch.randn(3, 2), torch.randn(2, 2)
    with pytest.raises(jaxtyping.TypeCheckError, match="parameter 'A'"):
        data_after_attention(data.to(torch.int64), square, square)


def test_all_modules_are_checked():
    names = [module.name for module in pkgutil.walk_packages(numerics.__path__, "numerics.")]
    loaders = {name: type(importlib.import_module(name).__spec__.loader).__module__ for name in names}
    assert len(names) > 20
    assert [name for name, loader in loaders.items() if loader != "jaxtyping._import_hook"] == []


def test_annotations_are_made_once():
    # Evaluating a shape annotation takes about 50 µs, so nested functions have no shape annotations.
    made = []
    for path in Path(numerics.__path__[0]).rglob("*.py"):
        outer = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]
        inner = [
            node for each in outer for node in ast.walk(each) if isinstance(node, ast.FunctionDef) and node != each
        ]
        made += [(path.name, node.name) for node in inner if "Tensor, '" in ast.unparse(node)]
    assert made == []
