"""What the dry run does with the chart. Needs helm-python-sdk of PyPI, which is Helm's own engine.

push CHART REGISTRY VERSION FOLDER   packs the chart, pushes it to a registry, and pulls it from there into the empty FOLDER
render CHART VALUES                  prints as JSON what it makes of these values, each document of each template
"""

import json
import sys
from pathlib import Path

import helm_python
import yaml


def push(chart: str, registry: str, version: str, folder: str) -> None:
    packed = helm_python.package(chart, destination=Path(folder).parent)
    helm_python.push(packed, f"oci://{registry}/charts", plain_http=True)
    name = Path(chart).name
    helm_python.pull(f"oci://{registry}/charts/{name}", version=version, destination=folder, plain_http=True)


def render(chart: str, values: str) -> None:
    rendered = helm_python.Chart.load(chart).render(
        json.loads(values), name="ours", namespace="voice", is_install=True
    )
    documents = [
        document
        for name, text in rendered.items()
        if not name.endswith(".txt")
        for document in yaml.safe_load_all(text)
        if document
    ]
    print(json.dumps(documents))


{"push": push, "render": render}[sys.argv[1]](*sys.argv[2:])
