"""Features of images and how they match, in numpy: corners, described by gradients around them.

A corner is where the structure tensor has two large eigenvalues (Harris). Its descriptor is, as in
SIFT, a histogram of gradient directions in each of four cells of the patch around it, normalised so
that light and contrast do not matter. There are neither scales nor rotations: logos in the made
frames have none.
"""

import numpy as np
from numpy.typing import NDArray

CELL, BINS = 4, 8
LENGTH = 4 * BINS
"""Of a descriptor: two by two cells."""
MOST_FEATURES = 80
STRENGTH = 2e6
"""A corner below it is noise."""
NEAR = 160.0
"""L2 distance below which two descriptors match; they have length 255."""

Image = NDArray[np.uint8]
Descriptors = NDArray[np.uint8]


def features(image: Image) -> Descriptors:
    """The descriptors of an image's corners, the strongest first."""
    values = image.astype(np.float64)
    down: NDArray[np.float64] = np.asarray(np.gradient(values, axis=0))
    right: NDArray[np.float64] = np.asarray(np.gradient(values, axis=1))
    xx, yy, xy = (_around(a * b) for a, b in ((right, right), (down, down), (right, down)))
    strength = xx * yy - xy * xy - 0.05 * (xx + yy) ** 2
    reach = CELL
    inner = np.zeros_like(strength, dtype=bool)
    inner[reach:-reach, reach:-reach] = True
    peaks = inner & (strength > STRENGTH) & (strength >= _highest_around(strength))
    rows, columns = np.nonzero(peaks)
    order = np.lexsort((columns, rows, -strength[rows, columns]))[:MOST_FEATURES]
    found = [_describe(down, right, rows[i], columns[i]) for i in order]
    return np.array(found, dtype=np.uint8).reshape(len(found), LENGTH)


def match(found: Descriptors, known: Descriptors, names: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each descriptor the name of the nearest known one, or -1 if none is near."""
    if not len(found):
        return np.zeros(0, dtype=np.int64)
    a, b = found.astype(np.int64), known.astype(np.int64)
    squares = (a * a).sum(1)[:, None] + (b * b).sum(1)[None, :] - 2 * a @ b.T
    nearest = squares.argmin(1)
    near = squares[np.arange(len(found)), nearest] < NEAR**2
    return np.where(near, names[nearest], -1)


def _around(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum over the three by three values around each."""
    return np.asarray(_shift(values, 0.0).sum(axis=0))


def _highest_around(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(_shift(values, -np.inf).max(axis=0))


def _shift(values: NDArray[np.float64], beyond: float) -> NDArray[np.float64]:
    padded = np.pad(values, 1, constant_values=beyond)
    height, width = values.shape
    return np.array([padded[i : i + height, j : j + width] for i in range(3) for j in range(3)])


def _describe(
    down: NDArray[np.float64], right: NDArray[np.float64], row: int, column: int
) -> Descriptors:
    part = np.s_[row - CELL : row + CELL, column - CELL : column + CELL]
    size = np.hypot(down[part], right[part])
    turn = np.arctan2(down[part], right[part]) / (2 * np.pi) % 1.0
    bins = np.minimum((turn * BINS).astype(np.int64), BINS - 1)
    at = np.arange(2 * CELL) // CELL
    cells = 2 * at[:, None] + at[None, :]
    summed = np.bincount((cells * BINS + bins).ravel(), size.ravel(), LENGTH)
    evened = np.minimum(_of_length_one(summed.astype(np.float64)), 0.4)
    return np.rint(255 * _of_length_one(evened)).astype(np.uint8)


def _of_length_one(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values / max(float(np.linalg.norm(values)), 1e-9)
