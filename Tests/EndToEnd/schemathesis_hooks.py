# A serializer that schemathesis does not have: bodies of lines.

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    """The value unchanged if it is text, as the document requires. schemathesis also tries other values on purpose."""
    return value.encode("utf-8", "replace") if isinstance(value, str) else str(value).encode()
