// The requests of streams and publishers, made from templates.
#include "load.h"
#include <stdio.h>
#include <string.h>

/// The values of {i}, {t}, {k} and {j}.
typedef struct { uint64_t sequence, time; uint32_t topic; int stream; } Values;

/// {pad:N}: N letters. Returns the number of template characters that it used.
static size_t pad(char *text, size_t room, const char *template, size_t *count)
{
    unsigned letters;
    int taken = 0;
    if (sscanf(template, "{pad:%u}%n", &letters, &taken) != 1 || !taken) return 0;
    for (unsigned i = 0; i < letters && *count + 1 < room; i++) text[(*count)++] = (char)('a' + i % 26);
    return (size_t)taken;
}

static size_t expand(char *text, size_t room, const char *template, Values values)
{
    size_t count = 0, taken;
    while (*template && count + 32 < room) {
        if (!strncmp(template, "{i}", 3)) count += (size_t)sprintf(text + count, "%010llu", (unsigned long long)values.sequence);
        else if (!strncmp(template, "{t}", 3)) count += (size_t)sprintf(text + count, "%019llu", (unsigned long long)values.time);
        else if (!strncmp(template, "{k}", 3)) count += (size_t)sprintf(text + count, "%u", values.topic);
        else if (!strncmp(template, "{j}", 3)) count += (size_t)sprintf(text + count, "%d", values.stream);
        else if ((taken = pad(text, room, template, &count))) { template += taken; continue; }
        else { text[count++] = *template++; continue; }
        template += 3;
    }
    if (*template) fail("a path or body is longer than %zu bytes", room);
    text[count] = 0;
    return count;
}

void subscribe(Connection *stream)
{
    char path[path_max], request[path_max + 256];
    expand(path, sizeof path, options.get, (Values){.topic = stream->topic, .stream = stream->number});
    int count = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept: text/event-stream\r\n\r\n", path, options.port);
    send_bytes(stream, request, (size_t)count);
}

/// Publisher p has the topics p, p + publishers, ..: in turn, or at random.
static uint32_t next_topic(Connection *publisher)
{
    static uint32_t random = 12345;
    uint32_t first = (uint32_t)publisher->number, step = (uint32_t)options.publishers;
    uint32_t own = ((uint32_t)options.topics - first + step - 1) / step;
    random = random * 1664525 + 1013904223;
    return first + step * ((options.has_random_topics ? random >> 8 : publisher->turns++) % own);
}

void publish(Connection *publisher, uint64_t time)
{
    static char path[path_max], body[body_max], request[path_max + body_max + 256];
    Values values = {.time = time, .topic = next_topic(publisher)};
    publisher->event = add_event(values.topic, time);
    values.sequence = SEQUENCE_BASE + publisher->event;
    expand(path, sizeof path, options.post, values);
    size_t body_count = expand(body, sizeof body, options.body, values);
    int head_count = snprintf(request, sizeof request,
        "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n", path, options.port, body_count);
    memcpy(request + head_count, body, body_count);
    publisher->is_busy = true;
    publisher->sent = now();
    send_bytes(publisher, request, (size_t)head_count + body_count);
}
