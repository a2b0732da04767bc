// HTTP/1.1 responses: the head, and bodies that are chunked, have a Content-Length, or end with the connection. Other
// framing ends the run.
#include "load.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hold(Connection *connection, const char *bytes, size_t count)
{
    if (connection->held_count + count > connection->held_room) {
        connection->held_room = connection->held_count + count + 256;
        if (connection->held_room > held_max) fail("a head or a line is longer than %d bytes", held_max);
        connection->held = allocated(realloc(connection->held, connection->held_room));
    }
    memcpy(connection->held + connection->held_count, bytes, count);
    connection->held_count += count;
}

/// The value of a header, or NULL.
static const char *header(const char *head, const char *name)
{
    size_t count = strlen(name);
    for (const char *line = strchr(head, '\n'); line; line = strchr(line, '\n')) {
        line++;
        if (strncasecmp(line, name, count) || line[count] != ':') continue;
        return line + count + 1 + strspn(line + count + 1, " ");
    }
    return NULL;
}

/// Handles the end of a body. A stream that ends is closed; a publisher waits for its next response.
static void end_response(Connection *connection)
{
    connection->reading = reading_head;
    if (connection->publishes) take_answer(connection);
    else close_connection(connection);
}

static void read_head(Connection *connection)
{
    hold(connection, "", 1);
    const char *head = connection->held, *value;
    connection->status = strncmp(head, "HTTP/1.1 ", 9) ? 0 : atoi(head + 9);
    connection->held_count = connection->left = 0;
    if (connection->status < 200 || connection->status > 299) {
        // The first refused publication is enough.
        if (!counts.answer_errors) fprintf(stderr, "load: a %s got %.*s\n", connection->publishes ? "publisher" : "stream", (int)strcspn(head, "\r\n"), head);
        if (!connection->publishes) exit(2);
    } else if (!connection->publishes && !options.ready_events) {
        mark_ready(connection);
    }
    if ((value = header(head, "transfer-encoding")) && !strncasecmp(value, "chunked", 7)) {
        connection->reading = reading_size;
    } else if ((value = header(head, "content-length")) || connection->status == 204 || connection->status == 304) {
        connection->reading = reading_counted;
        connection->left = value ? strtoull(value, NULL, 10) : 0;
        if (!connection->left) end_response(connection);
    } else {
        connection->reading = reading_to_close;
    }
}

/// Handles bytes of a body, without chunk framing.
static void take_body(Connection *connection, const char *bytes, size_t count)
{
    if (!connection->publishes) take_stream(connection, bytes, count);
}

/// Handles the available bytes of the body or of the chunk. Returns their number.
static size_t take_counted(Connection *connection, const char *bytes, size_t count)
{
    if (count > connection->left) count = connection->left;
    take_body(connection, bytes, count);
    connection->left -= count;
    if (connection->left) return count;
    if (connection->reading == reading_counted) end_response(connection);
    else connection->reading = reading_chunk_end;
    return count;
}

static void take_size(Connection *connection, char byte)
{
    if (isxdigit((unsigned char)byte)) {
        unsigned digit = isdigit((unsigned char)byte) ? (unsigned)(byte - '0') : (unsigned)((byte | 32) - 'a' + 10);
        if (connection->left > UINT32_MAX) fail("a chunk is longer than 4 GiB");
        connection->left = connection->left * 16 + digit;
    } else if (byte == ';') {
        connection->reading = reading_extension;
    } else if (byte == '\n') {
        connection->reading = connection->left ? reading_chunk : reading_last_line;
    } else if (byte != '\r') {
        fail("the size of a chunk has the byte %d", byte);
    }
}

/// Handles one byte between chunks.
static void take_frame(Connection *connection, char byte)
{
    switch (connection->reading) {
    case reading_size:
        take_size(connection, byte);
        break;
    case reading_extension:
        if (byte == '\n') connection->reading = connection->left ? reading_chunk : reading_last_line;
        break;
    case reading_chunk_end:
        if (byte == '\n') connection->reading = reading_size;
        else if (byte != '\r') fail("a chunk is longer than its size");
        break;
    default: // The empty line after the last chunk; trailers are not expected.
        if (byte == '\n') end_response(connection);
        else if (byte != '\r') fail("a response has trailers");
        break;
    }
}

/// Heads are small and rare, so that each byte is read alone.
static void take_head(Connection *connection, char byte)
{
    hold(connection, &byte, 1);
    if (connection->held_count >= 4 && !memcmp(connection->held + connection->held_count - 4, "\r\n\r\n", 4)) read_head(connection);
}

void take(Connection *connection, const char *bytes, size_t count)
{
    const char *end = bytes + count;
    while (bytes < end && !connection->is_closed) {
        switch (connection->reading) {
        case reading_head:
            take_head(connection, *bytes++);
            break;
        case reading_to_close:
            take_body(connection, bytes, (size_t)(end - bytes));
            return;
        case reading_counted:
        case reading_chunk:
            bytes += take_counted(connection, bytes, (size_t)(end - bytes));
            break;
        default:
            take_frame(connection, *bytes++);
            break;
        }
    }
}
