import math

import pytest

from twin.traces.importers._shared.models import PARAMETERS, gradient_mb, known_models, model_name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("vgg19", "vgg-19"), ("ResNet-18", "resnet-18"), ("resnet152", "resnet-152"), ("inception4", "inception-v4"),
        ("shufflenet_v2_x1_0", "shufflenet-v2"), ("gpt2", "gpt-2"), ("bert", "bert-base"), ("imagenet", "resnet-50"),
        ("LM", "lstm-lm"), ("yolov3", "yolo-v3"), ("My Model, v2.1", "my-model--v2.1"), ("", ""),
        ("\N{GREEK SMALL LETTER ALPHA}", ""), ("x" * 99, "x" * 60),
    ],
)  # fmt: skip
def test_names(text, name):
    assert model_name(text) == name


def test_a_gradient_has_four_bytes_a_parameter():
    assert gradient_mb("resnet-50") == pytest.approx(102.4)
    assert math.isnan(gradient_mb("my-model"))
    assert min(PARAMETERS.values()) > 0


def test_columns_of_drafts():
    known = known_models(["vgg16", "odd", "vgg16"])
    assert known["model"].tolist() == ["vgg-16", "odd", "vgg-16"]
    assert known["gradient_mb"].tolist()[::2] == [pytest.approx(553.6)] * 2
    assert math.isnan(known["gradient_mb"][1])
