"""A table with a text column and an uneven target, by the scikit-learn estimator."""

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import oddkout as oko

if __name__ == "__main__":
    frame = load_breast_cancer(as_frame=True).frame
    diagnosis = np.where(frame.pop("target") == 0, "malignant", "benign")
    names = ["small", "medium", "large"]
    frame["size"] = pd.cut(frame.pop("mean area"), 3, labels=names).astype(str)  # text, as it comes
    train, test, y_train, y_test = train_test_split(
        frame, diagnosis, stratify=diagnosis, random_state=0
    )
    ill = np.flatnonzero(y_train == "malignant")[:15]  # more could not be had
    kept = np.concatenate([ill, np.flatnonzero(y_train == "benign")])
    train, y_train = train.iloc[kept], y_train[kept]
    print(f"{len(ill)} of {len(kept)} training examples are malignant")

    # Probabilities for the class frequencies where it is used, not for those of the training data.
    classifier = oko.OddKOutClassifier(prior=[0.63, 0.37], calibrate="folds", random_state=0)
    probs = classifier.fit(train, y_train).predict_proba(test)
    for note in classifier.notes_:
        print("note:", note)

    labels = np.searchsorted(classifier.classes_, y_test)
    report = oko.evaluate(probs=probs, labels=labels, classes=list(classifier.classes_))
    for found in report.classes:
        low, high = found.accuracy.low, found.accuracy.high
        print(f"{found.name}: {found.accuracy.value:.0%} found [{low:.0%}, {high:.0%}]")
    print(f"accuracy {report['accuracy'].value:.1%}, ECE {report['ece'].value:.3f}")
    print(report.verdict)
