"""Bodies of media types that schemathesis does not know itself."""

import json

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def json_lines(_context, value):
    documents = value if isinstance(value, list) else [value]
    return "\n".join(json.dumps(document) for document in documents).encode("utf-8", "surrogatepass")
