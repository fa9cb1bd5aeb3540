"""The scikit-learn estimator on an imbalanced table with a text column."""

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import oddkout as oko

if __name__ == "__main__":
    frame = load_breast_cancer(as_frame=True).frame
    diagnosis = np.where(frame.pop("target") == 0, "malignant", "benign")
    sizes = pd.cut(frame.pop("mean area"), 3, labels=["small", "medium", "large"])
    frame["size"] = sizes.astype(str)  # a text column: the estimator encodes it
    train, test, y_train, y_test = train_test_split(
        frame, diagnosis, stratify=diagnosis, random_state=0
    )
    malignant = np.flatnonzero(y_train == "malignant")[:15]  # keep 15 to make the class rare
    kept = np.concatenate([malignant, np.flatnonzero(y_train == "benign")])
    train, y_train = train.iloc[kept], y_train[kept]
    print(f"{len(malignant)} of {len(kept)} training examples are malignant")

    # In the test part 37 % are malignant: predict for these class frequencies.
    classifier = oko.OddKOutClassifier(prior=[0.63, 0.37], random_state=0)
    probs = classifier.fit(train, y_train).predict_proba(test)
    print(f"temperature {classifier.temperature_:.2f}, fitted out of fold")
    for note in classifier.notes_:
        print("note:", note)

    labels = np.searchsorted(classifier.classes_, y_test)
    report = oko.evaluate(probs=probs, labels=labels, classes=list(classifier.classes_))
    for result in report.classes:
        recall = result.accuracy
        print(f"{result.name}: recall {recall.value:.0%} [{recall.low:.0%}, {recall.high:.0%}]")
    print(f"accuracy {report['accuracy'].value:.3f}, ECE {report['ece'].value:.3f}")
    print(report.verdict)
