"""Documents as Markdown, LaTeX and HTML."""

from oddkout.paper.document import Document, Heading, TextTable


def test_a_document_has_the_same_content_in_three_formats():
    document = Document()
    document.add(Heading("A & B"), "100 % <sure>", TextTable(header=["x_1"], rows=[["1 ± 2"]]))
    assert document.markdown() == "## A & B\n\n100 % <sure>\n\n| x_1 |\n| --- |\n| 1 ± 2 |\n"
    assert r"\subsection{A \& B}" in document.latex()
    assert r"x\_1 \\" in document.latex()
    assert r"1 $\pm$ 2 \\" in document.latex()
    assert "<h2>A &amp; B</h2>\n<p>100 % &lt;sure&gt;</p>" in document.html()
    document.add("Type `a <b_c>`.")
    assert document.markdown().endswith("Type `a <b_c>`.\n")
    assert document.latex().endswith("Type \\texttt{a \\textless{}b\\_c\\textgreater{}}.\n")
    assert "<p>Type <code>a &lt;b_c&gt;</code>.</p>" in document.html()
