"""Made frames, and the logos that are found in them."""

import numpy as np

from weir.pipeline.workloads.frames import LOGOS, SIZE, frame, frames, logo_features, pixels_of
from weir.pipeline.workloads.video_logos import logos_in
from weir.pipeline.workloads.vision import LENGTH, features, match


def test_logos_are_found_where_they_are_and_nowhere_else() -> None:
    found_right = missed = wrong = 0
    for number in range(1000, 1100):  # not those that the thresholds were chosen with
        image, shown = frame(number, np.array([number % LOGOS, (number // 6) % LOGOS]))
        found, truth = logos_in(features(image)), set(shown)
        found_right += len(found & truth)
        missed += len(truth - found)
        wrong += len(found - truth)
    assert found_right > 50
    assert missed + wrong <= 0.05 * found_right


def test_a_frame_is_read_as_it_was_made() -> None:
    number, image = pixels_of(frames(7, 1).to_pylist()[0])
    assert number == 7
    assert image.shape == (SIZE, SIZE)
    assert features(np.full((SIZE, SIZE), 90, np.uint8)).shape == (0, LENGTH)


def test_light_and_contrast_do_not_matter_to_a_descriptor() -> None:
    known, names = logo_features()
    assert set(names.tolist()) == set(range(LOGOS))
    assert (match(known, known, names) == names).mean() > 0.95
    image, _ = frame(1001, np.array([1, 2]))
    dimmed = (image // 2 + 40).astype(np.uint8)
    assert logos_in(features(dimmed)) == logos_in(features(image))
