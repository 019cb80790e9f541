"""Reads a list of parts (CycloneDX) and a provenance (in-toto) with the libraries of their makers, as a list of two JSON texts on stdin.

Writes what they complain of, as a list.
"""

import json
import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from google.protobuf.json_format import Parse, ParseError
from in_toto_attestation.v1.statement import Statement
from in_toto_attestation.v1 import statement_pb2

parts, statement = json.load(sys.stdin)
complaints = []
error = JsonStrictValidator(SchemaVersion.V1_5).validate_str(parts)
if error is not None:
    complaints.append(f"parts: {error}")
try:
    Statement.copy_from_pb(Parse(statement, statement_pb2.Statement())).validate()
except (ParseError, ValueError) as problem:
    complaints.append(f"provenance: {problem}")
json.dump(complaints, sys.stdout)
