// The parts of the load generator and their common declarations. main.c has the order in which they run.
#pragma once
#define _GNU_SOURCE // epoll_pwait2, memmem
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SECOND 1000000000ull
#define SEQUENCE_BASE 1000000000ull // {i} begins here, so that it always has 10 digits.

enum {
    publishers_max = 64,
    processes_max = 64,        // of --pid, with their children
    path_max = 2048,
    body_max = 64 * 1024,      // of one request
    held_max = 4 * 1024 * 1024 // of an unfinished head or line
};

// options.c

typedef struct {
    const char *label, *get, *post, *body, *sequence_mark, *time_mark;
    int port, streams, topics, publishers, window, ready_events;
    uint64_t count, warm_up;
    double rate, seconds, idle, settle, drain, stall, timeout;
    bool has_random_topics;
    int processes[processes_max], process_count;
} Options;

extern Options options;

void read_options(int argc, char **argv);
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *allocated(void *memory);

// figures.c

/// A histogram of times in nanoseconds: 64 steps for each power of two, so that a value is kept within 1.6 %.
enum { histogram_steps = 64, histogram_size = 40 * histogram_steps };
typedef struct { uint64_t count, most, steps[histogram_size]; } Histogram;

typedef struct { double user, system; uint64_t memory; int count; } Processes;
typedef struct { double busy, stolen; } Machine;

void add(Histogram *histogram, uint64_t nanoseconds);
/// The time in µs that this share of the values does not exceed.
double quantile(const Histogram *histogram, double share);
/// Nanoseconds that always have 19 digits, and never decrease.
uint64_t now(void);
double seconds_since(uint64_t time);
/// CPU seconds and proportional set size of --pid and its descendants.
Processes read_processes(void);
/// CPU seconds of the whole machine.
Machine read_machine(void);
double own_cpu_seconds(void);

// connections.c

typedef enum {
    reading_head, reading_counted, reading_to_close,
    reading_size, reading_extension, reading_chunk, reading_chunk_end, reading_last_line
} Reading;

typedef struct {
    int socket, number;
    bool publishes, is_connected, is_closed;
    uint64_t began;
    // The response, see responses.c.
    Reading reading;
    int status;
    uint64_t left; // of the body or of the chunk
    char *held;    // an unfinished head or line
    size_t held_count, held_room;
    // A stream, see deliveries.c. Bit b of `received`: the event of number `last - b` of the topic has come.
    bool is_ready, has_data, has_received;
    int events;
    uint32_t topic, last;
    uint64_t received;
    // A publisher. `event` was sent at `sent` and has no answer yet.
    bool is_busy;
    uint64_t event, sent;
    uint32_t turns;
} Connection;

void prepare_connections(void);
void connect_to_server(Connection *connection, int number, bool publishes);
void close_connection(Connection *connection);
void send_bytes(Connection *connection, const char *bytes, size_t count);
/// Handles the events of the sockets. Waits for events at most `wait`.
void turn(uint64_t wait);

// requests.c

void subscribe(Connection *stream);
/// Publishes the next event. Its latency begins at `time`.
void publish(Connection *publisher, uint64_t time);

// responses.c

/// Handles the next bytes of a response: of an event stream, or of the answer to a publisher.
void take(Connection *connection, const char *bytes, size_t count);
void hold(Connection *connection, const char *bytes, size_t count);

// deliveries.c

/// Counted from the start; `measured` and the histograms begin after the warm-up.
typedef struct {
    uint64_t ready, failed, closed; // streams; failed: closed before ready
    uint64_t published, expected, delivered, measured, bytes;
    uint64_t duplicate, out_of_order, unmatched, other_events;
    uint64_t answered, answer_errors, stalls;
    uint64_t open;          // events that some stream still has to get
    uint64_t last_progress; // the time of the last delivery or answer
    Histogram connect, delivery, last_delivery, answer;
} Counts;

extern Counts counts;

void prepare_deliveries(void);
void mark_ready(Connection *stream);
/// Adds a ready stream to the receivers of later events of its topic.
void expect_deliveries_to(const Connection *stream);
/// Registers an event of this topic, and returns its number.
uint64_t add_event(uint32_t topic, uint64_t time);
/// Gives up the deliveries that are still due. They count as lost.
void give_up_open_events(void);
/// Handles bytes of an event stream, without chunk framing.
void take_stream(Connection *stream, const char *bytes, size_t count);
void take_answer(Connection *publisher);

// report.c

/// The readings for the JSON object. They are made at the start, when all streams are open, at the end of the warm-up,
/// and at the end.
typedef struct {
    double connect_seconds, idle_share, seconds, own_cpu;
    uint64_t bytes;
    Processes start, connected, warm, end;
    Machine machine_warm, machine_end;
} Readings;

void print_report(const Readings *readings);
bool is_faultless(void);
