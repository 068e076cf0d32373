"""Learn++.NSE against a transcription with every sum written out."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from dfop.baselines import LearnNSEClassifier, LearnNSERegressor


def average_beta(betas, a, b):
    """Mean of a member's betas, the weight of each the sigmoid of its age at the time."""
    weights = [1 / (1 + np.exp(-a * (age - b))) for age in range(len(betas))]
    return sum(w * beta for w, beta in zip(weights, betas, strict=True)) / sum(weights)


def literal(X, y, batch, a=0.5, b=10.0):
    members, betas, votes, predicted = [], [], [], []

    def ensemble(rows):
        answer = []
        for opinions in np.array([member.predict(rows) for member in members]).T:
            sums = {}
            for c, vote in zip(opinions, votes, strict=True):
                sums[c] = sums.get(c, 0.0) + vote
            answer.append(min(c for c in sums if sums[c] == max(sums.values())))
        return np.array(answer)

    retrained = 0
    for begin in range(0, len(X) - batch + 1, batch):
        rows, labels = X[begin : begin + batch], y[begin : begin + batch]
        D = np.ones(batch) / batch
        if members:
            wrong = ensemble(rows) != labels
            E = wrong.mean()
            if 0 < E < 1:
                D = np.where(wrong, 1.0, E / (1 - E))
                D = D / D.sum()
        member = GaussianNB().fit(rows, labels)
        if D[member.predict(rows) != labels].sum() > 0.5:
            member = GaussianNB().fit(rows, labels, sample_weight=D * batch)
            retrained += 1
        members.append(member)
        betas.append([])
        for k, member in enumerate(members):
            eps = min(D[member.predict(rows) != labels].sum(), 0.5)
            betas[k].append(eps / (1 - eps))
        votes = [np.log(1 / max(average_beta(history, a, b), 1e-10)) for history in betas]
        if begin + batch < len(X):
            predicted.append(ensemble(X[begin + batch : begin + 2 * batch]))
    return np.concatenate(predicted), np.array(votes), retrained


@pytest.mark.parametrize("batch", [20, 60])
def test_equals_the_algorithm_as_published(flipping, batch):
    X, y = flipping
    expected, votes, _ = literal(X, y, batch)
    model = LearnNSEClassifier(batch_size=batch)
    predicted = model.predict_then_learn(X, y)
    np.testing.assert_array_equal(predicted[batch:], expected)
    np.testing.assert_allclose(model.weights_, votes, atol=1e-9)


def test_trains_the_newest_member_again_when_it_is_worse_than_chance():
    """Labels without pattern: naive Bayes is wrong on most of the weight now and then."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(900, 2)), rng.integers(0, 3, 900)
    expected, votes, retrained = literal(X, y, 30)
    model = LearnNSEClassifier(batch_size=30)
    np.testing.assert_array_equal(model.predict_then_learn(X, y)[30:], expected)
    np.testing.assert_allclose(model.weights_, votes, atol=1e-9)
    assert retrained > 0


def test_members_are_distinct_objects_and_weigh_less_after_a_change(flipping):
    X, y = flipping
    model = LearnNSEClassifier(batch_size=50).fit(X, y)
    assert len({id(member) for member in model.members_}) == 12
    assert model.weights_[:6].max() < model.weights_[6:].min()  # the classes changed places


def test_until_the_first_batch_the_majority_or_the_mean_predicts(flipping, turning):
    X, y = flipping
    predicted = LearnNSEClassifier(batch_size=100).predict_then_learn(X, y)
    for i in range(1, 100):
        labels, counts = np.unique(y[:i], return_counts=True)
        assert predicted[i] == labels[counts.argmax()]
    X, y = turning
    predicted = LearnNSERegressor(batch_size=100).predict_then_learn(X, y)
    np.testing.assert_allclose(predicted[1:100], [y[:i].mean() for i in range(1, 100)])


def test_regression_equals_its_description(turning):
    X, y = turning
    batch, A = 40, np.c_[X, np.ones(len(X))]
    members, betas, votes, predicted = [], [], None, []

    def median(rows):
        answer = []
        for a in rows:
            pairs = sorted((a @ w, v) for w, v in zip(members, votes, strict=True))
            mass = np.cumsum([v for _, v in pairs])
            answer.append(pairs[int(np.argmax(mass >= mass[-1] / 2))][0])
        return np.array(answer)

    def solve(rows, targets, weight):
        R = rows.T @ (weight[:, None] * rows) + np.eye(rows.shape[1]) / 100
        return np.linalg.solve(R, rows.T @ (weight * targets))

    for begin in range(0, len(X) - batch + 1, batch):
        rows, targets = A[begin : begin + batch], y[begin : begin + batch]
        D = np.ones(batch) / batch
        if members:
            loss = np.abs(median(rows) - targets)
            loss /= loss.max()
            D = (loss.mean() / (1 - loss.mean())) ** (1 - loss)
            D /= D.sum()
        members.append(solve(rows, targets, np.ones(batch)))
        errors = np.abs(np.array([rows @ w for w in members]) - targets)
        errors /= errors.max()
        betas.append([])
        for k, loss in enumerate(errors):
            eps = min(D @ loss, 0.5)
            betas[k].append(eps / (1 - eps))
        votes = [np.log(1 / average_beta(history, 0.5, 10.0)) for history in betas]
        predicted.append(median(A[begin + batch : begin + 2 * batch]))
    model = LearnNSERegressor(batch_size=batch)
    ours = model.predict_then_learn(X, y)
    np.testing.assert_allclose(ours[batch:], np.concatenate(predicted), atol=1e-8)
    np.testing.assert_allclose(model.weights_, votes, atol=1e-8)
