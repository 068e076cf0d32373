"""Generated archive sets against the published files, class by class and block by block."""

import numpy as np
import pytest

from dfop.streams import archive, load

FILES = ["1cdt", "2cdt", "1cht", "2cht", "1csurr", "ug-2c-2d", "ug-2c-5d", "mg-2c-2d", "g-2c-2d"]


def blocks(stream):
    X, y = stream.arrays()
    for start, stop in zip([0, *stream.changes], [*stream.changes, len(y)], strict=True):
        for label in (1, 2):
            part = X[start:stop][y[start:stop] == label]
            centred = part - part.mean(0)
            products = np.einsum("ni,nj->nij", centred, centred)
            upper = np.triu_indices(part.shape[1])
            yield (
                len(part),
                np.concatenate([part.mean(0), products.mean(0)[upper]]),
                np.concatenate([part.var(0), products.var(0)[upper]]) / len(part),
            )


@pytest.mark.parametrize("name", FILES)
def test_means_and_covariances_of_every_block_match_the_file(data, name):
    """Differences are sampling error: root mean square about 1 standard error, none beyond 5."""
    ours, published = archive(name, seed=1), load(name)
    pairs = list(zip(blocks(ours), blocks(published), strict=True))
    assert len(pairs) == 2 * (len(published.changes) + 1)
    z = np.array([(a[1] - b[1]) / np.sqrt(a[2] + b[2]) for a, b in pairs])
    # The mean of n squared standard normals has sd sqrt(2 / n).
    for column in z.T:
        assert (column**2).mean() < 1 + 4.5 * np.sqrt(2 / len(column))
    assert np.abs(z).max() < 5


def test_the_gears_turn_as_in_the_file(data):
    """Five equal spokes do not show in means and covariances, but in the fifth power."""

    def fifth_powers(stream):
        X, y = stream.arrays()
        z = (X[:, 0] - np.where(y == 1, 0.0, 1.2) + 1j * X[:, 1]) ** 5
        for start in range(0, len(y), 2000):
            for label in (1, 2):
                part = z[start : start + 2000][y[start : start + 2000] == label]
                yield [part.real.mean(), part.imag.mean()], [part.real.var(), part.imag.var()]

    ours, file = (
        np.array(list(fifth_powers(stream)))
        for stream in (archive("g-2c-2d", seed=1), load("g-2c-2d"))
    )
    z = (ours[:, 0] - file[:, 0]) / np.sqrt((ours[:, 1] + file[:, 1]) / 1000)
    assert ((z**2).mean(axis=0) < 1 + 4.5 * np.sqrt(2 / len(z))).all()
    # The signal is far above the noise: a wheel that stands still would be seen.
    assert np.abs(file[:, 0]).max() > 10 * np.sqrt(file[:, 1].max() / 1000)


@pytest.mark.parametrize("name", FILES)
def test_class_counts_of_every_block_match_the_file(data, name):
    pairs = zip(blocks(archive(name, seed=2)), blocks(load(name)), strict=True)
    counts = np.array([(a[0], b[0]) for a, b in pairs])
    if name == "1csurr":
        assert (counts[::2] == 200).all()
        # Class 2 is thinned at random, and its first and last rows of a step are not known.
        assert np.abs(counts[1::2, 0] - counts[1::2, 1]).max() < 70
        assert abs(counts[1::2, 0].mean() - counts[1::2, 1].mean()) < 5
    else:
        np.testing.assert_array_equal(counts[:, 0], counts[:, 1])


@pytest.mark.parametrize("name", FILES)
def test_fresh_rows_of_a_published_stream_have_the_moments_of_their_block(data, name):
    published = load(name)
    k = 15
    start, stop = published.changes[k - 1 : k + 1]
    X, y = published[start:stop].arrays()
    fresh_X, fresh_y = published.fresh(start + 50, 40_000, np.random.default_rng(3))
    for label in (1, 2):
        a, b = X[y == label], fresh_X[fresh_y == label]
        assert (np.abs(a.mean(0) - b.mean(0)) < 4.5 * np.sqrt(a.var(0) / len(a))).all()
        assert (np.abs(a.std(0) / b.std(0) - 1) < 4.5 / np.sqrt(2 * len(a))).all()


def test_translations_have_the_published_geometry():
    """Means written down in the description of the sets, not read from our tables."""
    for name, k, means in [
        ("1cdt", 0, [(0, 0), (4, 4)]),
        ("1cdt", 20, [(0, 0), (24, 24)]),
        ("1cdt", 39, [(0, 0), (5, 5)]),
        ("2cdt", 20, [(20, 20), (24, 24)]),
        ("1cht", 10, [(0, 2), (14, 2)]),
        ("2cht", 30, [(10, 2), (14, 2)]),
    ]:
        X, y = archive(name).fresh(400 * k, 40_000, np.random.default_rng(k))
        for label, mean in zip((1, 2), means, strict=True):
            np.testing.assert_allclose(X[y == label].mean(0), mean, atol=0.05)
            np.testing.assert_allclose(X[y == label].std(0), 1.5, atol=0.03)


def test_the_stand_in_for_ug_2c_3d_says_so_and_is_as_defined():
    stream = archive("ug-2c-3d", seed=1)
    assert "stand-in" in stream.name
    assert len(stream) == 200_000
    assert stream.changes == tuple(range(2000, 200_000, 2000))
    for k in (0, 33, 66, 99):
        X, y = stream[2000 * k : 2000 * (k + 1)].arrays()
        assert (y == 1).sum() == 1000
        a = 1.5 * np.pi * k / 99
        u = 1.7 * np.array([np.cos(a), np.sin(a) / np.sqrt(2), np.sin(a) / np.sqrt(2)])
        np.testing.assert_allclose(X[y == 1].mean(0), 5 + u, atol=0.15)
        np.testing.assert_allclose(X[y == 2].mean(0), 5 - u, atol=0.15)
        np.testing.assert_allclose(np.cov(X[y == 1].T), np.eye(3), atol=0.2)


def test_the_seed_decides_everything():
    for name in ("2cdt", "1csurr"):
        one, same, other = (archive(name, seed=s).arrays() for s in (5, 5, 6))
        assert all(np.array_equal(a, b) for a, b in zip(one, same, strict=True))
        assert not np.array_equal(one[0][:1000], other[0][:1000])


def test_an_unknown_set_is_refused_with_the_list():
    with pytest.raises(ValueError, match="there are 1cdt"):
        archive("3cdt")
