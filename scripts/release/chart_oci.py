"""Packs the chart, pushes it to a registry, pulls it from there into an empty folder, and renders what came: CHART REGISTRY VERSION FOLDER.

Prints the images that the rendered pods run. Needs helm-python-sdk of PyPI, which is Helm's own engine.
"""

import sys
from pathlib import Path

import helm_python
import yaml

chart, registry, version, folder = sys.argv[1:]
packed = helm_python.package(chart, destination=folder)
helm_python.push(packed, f"oci://{registry}/charts", plain_http=True)
pulled = Path(folder) / "pulled"
pulled.mkdir()
name = Path(chart).name
helm_python.pull(f"oci://{registry}/charts/{name}", version=version, destination=pulled, plain_http=True)
rendered = helm_python.Chart.load(next(pulled.iterdir())).render(
    {}, name="ours", namespace="voice", is_install=True
)
images = {
    container["image"]
    for name, text in rendered.items()
    if not name.endswith(".txt")
    for document in yaml.safe_load_all(text)
    if document and document.get("kind") == "Deployment"
    for container in document["spec"]["template"]["spec"]["containers"]
}
print(" ".join(sorted(images)))
