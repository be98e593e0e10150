"""Sizes of models that traces name: parameters in millions from the models' papers and reference code, 4 bytes each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

BYTES = 4  # of a parameter, so millions of parameters x 4 = MB of gradients
PARAMETERS = {  # millions
    "a2c": 1.7, "a3c": 1.7, "alexnet": 61.1, "bert-base": 110.0, "bert-large": 340.0, "cyclegan": 28.3,
    "deepspeech2": 38.0, "densenet-121": 8.0, "dqn": 1.7, "googlenet": 6.6, "gpt-2": 124.0, "inception-bn": 11.3,
    "inception-v3": 23.8, "inception-v4": 42.7, "lenet": 0.06, "lstm-lm": 13.8, "mobilenet-v2": 3.5, "ncf": 31.8,
    "recommendation": 24.7, "resnet-18": 11.7, "resnet-34": 21.8, "resnet-50": 25.6, "resnet-101": 44.5,
    "resnet-152": 60.2, "shufflenet-v2": 2.3, "transformer": 65.0, "vgg-11": 132.9, "vgg-16": 138.4, "vgg-19": 143.7,
    "yolo-v3": 61.9,
}  # fmt: skip
# as the traces write them, letters and digits only; a data set is replaced by the model that ElasticFlow trains on it
OTHER_NAMES = {
    "bert": "bert-base", "cifar10": "resnet-18", "gpt2": "gpt-2", "imagenet": "resnet-50", "inception3": "inception-v3",
    "inception4": "inception-v4", "lm": "lstm-lm", "shufflenetv2x10": "shufflenet-v2",
}  # fmt: skip
MAX_NAME = 60  # characters of an unknown name that are kept


def _normalized(name: str) -> str:
    """Letters and digits, in lower case."""
    return "".join(c for c in name.lower() if c.isascii() and c.isalnum())


NAMES = {**{_normalized(name): name for name in PARAMETERS}, **OTHER_NAMES}


def model_name(text: str) -> str:
    """The name in the table, otherwise the text in lower case with - for what is no letter, digit or dot."""
    spelled = "".join(c if c.isascii() and (c.isalnum() or c == ".") else "-" for c in text.lower()).strip("-")
    return NAMES.get(_normalized(text)) or spelled[:MAX_NAME]


def gradient_mb(model: str) -> float:
    """MB of gradients, NaN for a model that is not in the table."""
    return PARAMETERS.get(model, np.nan) * BYTES


def known_models(texts: Sequence[str]) -> dict[str, NDArray]:
    """`model` and `gradient_mb` of each job, as drafts know them."""
    names = {text: model_name(text) for text in set(texts)}
    sizes = {text: gradient_mb(name) for text, name in names.items()}
    return {
        "model": np.array([names[text] for text in texts], dtype=object),
        "gradient_mb": np.array([sizes[text] for text in texts], dtype=float),
    }
