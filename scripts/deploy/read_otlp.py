"""Reads bodies of OTLP over HTTP, as a list of [path, JSON] on stdin, with the official protobuf definitions. Writes what they complain of, as a list.

Ids are hexadecimal in OTLP, and base64 in the JSON of protobuf: every hexadecimal text of these lengths is base64 of another, so they are read, and
their value is not compared.
"""

import json
import sys

from google.protobuf.json_format import ParseDict, ParseError
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

kinds = {"/v1/traces": ExportTraceServiceRequest, "/v1/metrics": ExportMetricsServiceRequest}
complaints = []
for path, body in json.load(sys.stdin):
    try:
        ParseDict(body, kinds[path]())
    except (ParseError, KeyError) as error:
        complaints.append(f"{path}: {error}")
json.dump(complaints, sys.stdout)
