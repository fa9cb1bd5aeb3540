"""Figures as inline SVG."""

from matplotlib.figure import Figure

from oddkout.report.svg import inline_svg, series_colour


def test_figures_take_the_colours_of_the_page():
    figure = Figure()
    ax = figure.subplots()
    [line] = ax.plot([0, 1], [0, 1], color=series_colour(3))
    line.set_gid("series-3")
    ax.set_title("<i>&")
    text = inline_svg(figure, name="f", title="a <title>", description="1 & 2")
    assert "var(--series-3)" in text
    assert 'data-series="3"' in text
    assert "#000000" not in text
    assert "a &lt;title&gt;</title>" in text
    assert "1 &amp; 2</desc>" in text
    assert 'role="img"' in text
