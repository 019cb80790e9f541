"""Renders, lints and validates the Helm chart without a cluster, by Helm's own engine and Kubernetes' own schemas.

Reads one JSON object from standard input, {"chart", "values", "name", "namespace", "kubernetes": [versions]}, and writes one:
{"manifests": {template: text}, "documents": [objects], "lint": [messages], "problems": [texts]}. Needs the packages helm-python-sdk and
kubernetes-validate of PyPI. Resources of the Prometheus operator have no schema there and are named in "unchecked".
"""

import functools
import json
import sys

import helm_python
import yaml

FOREIGN = {"PodMonitor", "PrometheusRule"}


def validate(documents: list[dict], versions: list[str]) -> list[str]:
    """What the strict schemas of these versions of Kubernetes refuse."""
    if not versions:
        return []
    # Takes longer to load than all the rest takes.
    import kubernetes_validate
    from kubernetes_validate import utils

    # It reads megabytes of definitions anew for each object.
    utils.schema_contents = functools.cache(utils.schema_contents)
    problems = []
    for document in documents:
        if document["kind"] in FOREIGN:
            continue
        for version in versions:
            try:
                kubernetes_validate.validate(document, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                path = ".".join(str(part) for part in error.path)
                problems.append(f"{document['kind']} {path} ({version}): {error.message}")
            except kubernetes_validate.SchemaNotFoundError as error:
                problems.append(f"{document['kind']} ({version}): {error.message}")
    return problems


def main() -> None:
    asked = json.load(sys.stdin)
    values = asked.get("values", {})
    answer: dict = {"manifests": {}, "documents": [], "lint": [], "problems": []}
    try:
        chart = helm_python.Chart.load(asked["chart"])
        chart.validate_schema(chart.merge_values(values))
        answer["manifests"] = chart.render(
            values, name=asked["name"], namespace=asked["namespace"], is_install=True
        )
        report = helm_python.lint(asked["chart"], values, strict=True, kube_version="v1.30.0")
        answer["lint"] = [m["error"] for m in report["messages"] if m["severity"] >= 2] + report["errors"]
    except helm_python.HelmError as error:
        answer["problems"].append(str(error))
    for name, text in answer["manifests"].items():
        if name.endswith(".txt"):
            continue
        answer["documents"] += [one for one in yaml.safe_load_all(text) if one]
    answer["problems"] += validate(answer["documents"], asked.get("kubernetes", []))
    answer["unchecked"] = sorted({d["kind"] for d in answer["documents"] if d["kind"] in FOREIGN})
    json.dump(answer, sys.stdout)


main()
