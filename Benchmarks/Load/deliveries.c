// Events and their deliveries: each stream of an event's topic must get it once, and in the order of the topic.
#include "load.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/// The number of events that the 64 bits of `received` cover; see `deliver`.
enum { window = 64 };

/// A published event: its number within the topic, and the number of deliveries that are still due.
typedef struct { uint32_t topic, number, due; uint64_t time; } Event;

Counts counts;

static Event *events;
static uint64_t event_room;
static struct { uint32_t events, streams; } *topics;

void prepare_deliveries(void) { topics = allocated(calloc((size_t)options.topics, sizeof *topics)); }

void mark_ready(Connection *stream)
{
    if (stream->is_ready) return;
    stream->is_ready = true;
    counts.ready++;
    add(&counts.connect, now() - stream->began);
}

void expect_deliveries_to(const Connection *stream)
{
    if (stream->is_ready && !stream->is_closed) topics[stream->topic].streams++;
}

uint64_t add_event(uint32_t topic, uint64_t time)
{
    if (counts.published == event_room) {
        event_room = event_room ? event_room * 2 : 65536;
        events = allocated(realloc(events, event_room * sizeof *events));
    }
    uint32_t streams = topics[topic].streams;
    events[counts.published] = (Event){.topic = topic, .number = topics[topic].events++, .due = streams, .time = time};
    counts.expected += streams;
    if (streams) counts.open++;
    return counts.published++;
}

void give_up_open_events(void)
{
    for (uint64_t i = 0; i < counts.published; i++) events[i].due = 0;
    counts.open = 0;
}

/// Records that a stream has received this number of its topic. Returns false for a duplicate.
/// A number more than `window` behind the last number is reported as out of order, even if it is a duplicate.
static bool receive(Connection *stream, uint32_t number)
{
    if (!stream->has_received || number > stream->last) {
        uint32_t steps = number - stream->last;
        stream->received = !stream->has_received || steps >= window ? 1 : stream->received << steps | 1;
        stream->has_received = true;
        stream->last = number;
        return true;
    }
    uint32_t behind = stream->last - number;
    if (behind < window && stream->received >> behind & 1) return false;
    if (behind < window) stream->received |= 1ull << behind;
    counts.out_of_order++;
    return true;
}

/// Handles a delivery: a stream has received {i} and {t}.
static void deliver(Connection *stream, uint64_t sequence, uint64_t time)
{
    uint64_t moment = now(), number = sequence - SEQUENCE_BASE;
    if (sequence < SEQUENCE_BASE || number >= counts.published || events[number].time != time || events[number].topic != stream->topic) {
        counts.unmatched++;
        return;
    }
    Event *event = &events[number];
    if (!receive(stream, event->number)) {
        counts.duplicate++;
        return;
    }
    bool is_measured = number >= options.warm_up;
    uint64_t latency = moment > time ? moment - time : 0;
    counts.delivered++;
    counts.last_progress = moment;
    if (is_measured) {
        counts.measured++;
        add(&counts.delivery, latency);
    }
    if (event->due && --event->due == 0) {
        counts.open--;
        if (is_measured) add(&counts.last_delivery, latency);
    }
}

/// Reads the digits after `mark`, and moves `from` behind them. Returns false if there is no mark.
static bool find_number(const char **from, const char *end, const char *mark, uint64_t *number)
{
    size_t count = strlen(mark);
    const char *digit = memmem(*from, (size_t)(end - *from), mark, count);
    if (!digit) return false;
    uint64_t value = 0;
    for (digit += count; digit < end && isdigit((unsigned char)*digit); digit++) value = value * 10 + (uint64_t)(*digit - '0');
    *from = digit;
    *number = value;
    return true;
}

/// Handles one line of an event stream, without its line feed. A line of data may have several events.
static void take_line(Connection *stream, const char *line, size_t count)
{
    if (count && line[count - 1] == '\r') count--;
    if (!count && stream->has_data) {
        stream->has_data = false;
        if (++stream->events >= options.ready_events) mark_ready(stream);
    }
    if (count < 5 || memcmp(line, "data:", 5)) return;
    stream->has_data = true;
    const char *end = line + count;
    uint64_t sequence, time, found = 0;
    while (find_number(&line, end, options.sequence_mark, &sequence) && find_number(&line, end, options.time_mark, &time)) {
        deliver(stream, sequence, time);
        found++;
    }
    if (!found) counts.other_events++;
}

void take_stream(Connection *stream, const char *bytes, size_t count)
{
    const char *end = bytes + count, *line_end;
    while (bytes < end && (line_end = memchr(bytes, '\n', (size_t)(end - bytes)))) {
        if (stream->held_count) {
            hold(stream, bytes, (size_t)(line_end - bytes));
            take_line(stream, stream->held, stream->held_count);
            stream->held_count = 0;
        } else {
            take_line(stream, bytes, (size_t)(line_end - bytes));
        }
        bytes = line_end + 1;
    }
    if (bytes < end) hold(stream, bytes, (size_t)(end - bytes));
}

void take_answer(Connection *publisher)
{
    if (!publisher->is_busy) return;
    publisher->is_busy = false;
    counts.answered++;
    if (publisher->status < 200 || publisher->status > 299) counts.answer_errors++;
    counts.last_progress = now();
    if (publisher->event >= options.warm_up) add(&counts.answer, counts.last_progress - publisher->sent);
}
