"""Made frames of a video: a dim, smooth picture with noise, and on some of them logos.

A frame is a text, `number,pixels` in base64. Which logos appear follows Zipf's law.
"""

import base64
from functools import cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from weir.pipeline.workloads.vision import Descriptors, Image, features
from weir.pipeline.workloads.zipf import zipf_ranks

SIZE, LOGO, LOGOS = 64, 20, 6
EXPONENT = 0.7
MOST_LOGOS = 2


def frames(first: int, count: int, skew: float = EXPONENT) -> pa.Array:
    """The frames first, first + 1, ..."""
    shown = zipf_ranks(first * MOST_LOGOS, count * MOST_LOGOS, LOGOS, skew, seed=21)
    made = []
    for i in range(count):
        pixels = frame(first + i, shown[i * MOST_LOGOS : (i + 1) * MOST_LOGOS])[0]
        made.append(f"{first + i},{base64.b64encode(pixels.tobytes()).decode()}")
    return pa.array(made, pa.string())


def frame(number: int, logos: NDArray[np.int64]) -> tuple[Image, list[int]]:
    """One frame, and the logos on it: none, one or both of those given."""
    rng = np.random.default_rng((number, 22))
    across = np.linspace(0, 1, SIZE)
    light = 90 + 40 * rng.random() * across[:, None] + 40 * rng.random() * across[None, :]
    picture = light + rng.normal(0, 2, (SIZE, SIZE))
    count = int(rng.integers(0, MOST_LOGOS + 1))
    half = SIZE // 2
    for place, name in enumerate(logos[:count]):
        down = int(rng.integers(2, SIZE - LOGO - 2))
        right = half * place + int(rng.integers(2, half - LOGO - 2))
        contrast = 0.8 + 0.3 * rng.random()
        picture[down : down + LOGO, right : right + LOGO] += contrast * (_logo(int(name)) - 128)
    image = np.clip(np.rint(picture), 0, 255).astype(np.uint8)
    return image, [int(name) for name in logos[:count]]


def pixels_of(text: str) -> tuple[int, Image]:
    """Number and picture of a frame."""
    number, data = text.split(",")
    return int(number), np.frombuffer(base64.b64decode(data), np.uint8).reshape(SIZE, SIZE)


@cache
def logo_features() -> tuple[Descriptors, NDArray[np.int64]]:
    """The descriptors of every logo, and whose each is."""
    found = []
    for name in range(LOGOS):
        alone = np.full((SIZE, SIZE), 110.0)
        alone[22 : 22 + LOGO, 22 : 22 + LOGO] += _logo(name) - 128
        found.append(features(np.clip(alone, 0, 255).astype(np.uint8)))
    names = np.concatenate([np.full(len(f), name) for name, f in enumerate(found)])
    return np.concatenate(found), names


@cache
def _logo(name: int) -> NDArray[np.float64]:
    """Blocks of dark and light, others for every logo."""
    blocks = np.random.default_rng((name, 23)).choice([28.0, 128.0, 228.0], (5, 5))
    return np.kron(blocks, np.ones((LOGO // 5, LOGO // 5)))
