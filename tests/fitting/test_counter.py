"""The update counter: one progress for several networks."""

from oddkout.fitting.counter import UpdateCounter


def test_rows_of_later_networks_count_the_updates_of_earlier_ones():
    rows = []
    counter = UpdateCounter(rows.append, total=90)
    for updates in (30, 60):
        progress = counter.next(updates)
        progress({"update": updates // 2})
        progress({"update": updates})
    assert [row["done"] for row in rows] == [15, 30, 60, 90]
    assert {row["total"] for row in rows} == {90}


def test_without_progress_networks_report_nothing():
    assert UpdateCounter(None, total=5).next(5) is None
