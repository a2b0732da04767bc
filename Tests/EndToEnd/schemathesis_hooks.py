# What schemathesis does not know by itself: bodies of lines.

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    """The value as it is when it is text, which the document says; anything else where schemathesis tries what is wrong."""
    return value.encode("utf-8", "replace") if isinstance(value, str) else str(value).encode()
