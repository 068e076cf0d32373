"""EOS-ELM against batch least squares on the same hidden layers."""

import numpy as np

from dfop.baselines import EOSELMClassifier, EOSELMRegressor


def sigmoid_layers(model, X):
    """Outputs of each member's hidden layer, from the published weights."""
    with_bias = np.c_[X, np.ones(len(X))]
    return [1 / (1 + np.exp(-with_bias @ weights)) for weights in model.hidden_weights_]


def ridge(H, Y):
    return np.linalg.solve(H.T @ H + np.eye(H.shape[1]) / 100, H.T @ Y)


def test_is_the_mean_of_least_squares_on_random_sigmoid_layers(turning):
    X, y = turning
    model = EOSELMRegressor(n_members=4, n_hidden=12, random_state=0).fit(X[:500], y[:500])
    outputs = [
        fresh @ ridge(learned, y[:500])
        for learned, fresh in zip(
            sigmoid_layers(model, X[:500]), sigmoid_layers(model, X[500:]), strict=True
        )
    ]
    np.testing.assert_allclose(model.predict(X[500:]), np.mean(outputs, axis=0), atol=1e-7)


def test_classification_takes_the_class_with_the_largest_mean_output(three_classes):
    X, y = three_classes
    model = EOSELMClassifier(n_members=4, n_hidden=12, random_state=0).fit(X[:300], y[:300])
    one_hot = (y[:300, None] == [10, 20, 30]).astype(float)
    outputs = sum(
        fresh @ ridge(learned, one_hot)
        for learned, fresh in zip(
            sigmoid_layers(model, X[:300]), sigmoid_layers(model, X[300:]), strict=True
        )
    )
    expected = np.array([10, 20, 30])[outputs.argmax(axis=1)]
    np.testing.assert_array_equal(model.predict(X[300:]), expected)


def test_hidden_weights_are_uniform_and_members_differ():
    model = EOSELMRegressor(n_members=50, n_hidden=40, random_state=1)
    model.fit(np.zeros((2, 3)), [0.0, 1.0])
    weights = model.hidden_weights_
    assert weights.shape == (50, 4, 40)
    assert abs(weights.mean()) < 0.02
    assert abs(weights.var() - 1 / 3) < 0.02
    assert np.abs(weights).max() <= 1
    assert not np.array_equal(weights[0], weights[1])
