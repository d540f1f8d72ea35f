def test_report(laconic, saved, tmp_path):
    path = tmp_path / "report.html"
    said = laconic("report", saved, "-o", path).stderr
    assert str(path) in said.replace("\n", "")
    page = path.read_text("utf-8")
    assert "<h1>model</h1>" in page
    assert "Typical documents" not in page
    laconic("report", saved, "-o", path, "--title", "Fruit & cars", "--documents", "2")
    page = path.read_text("utf-8")
    assert "<h1>Fruit &amp; cars</h1>" in page
    assert page.count("<article") == 3
    assert "Typical documents" in page


def test_a_report_of_no_model(laconic, tmp_path):
    result = laconic("report", tmp_path / "none", "-o", tmp_path / "report.html", code=1)
    assert "does not exist" in result.stderr
