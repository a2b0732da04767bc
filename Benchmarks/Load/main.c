// The load generator: event streams, publishers, and a count of every delivery.
//
//   load --port P [options]        (load --help lists them)
//
// It opens N streams and waits until each is ready, then publishes by POST over a few connections. The body of each
// POST has a sequence number and the time of sending. Both come back in the `data:` lines of the streams, so that each
// delivery is matched, timed, and checked: lost, doubled, out of order. The CPU time and the memory of the server come
// from /proc. The output is one JSON object.
//
// Exit status:
//   0  Each event reached each stream of its topic once and in order.
//   1  The run was not possible.
//   2  A stream was refused.
//   3  An event was lost, doubled, reordered, unknown or refused.
#include "load.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    connecting_max = 128, // streams that are being opened at one time
    stalls_max = 3
};

static const uint64_t turn_most = SECOND / 20;

static Connection *streams, publishers[publishers_max];
static bool is_warm;
static uint64_t warm_at, due_count;

static void pass(double seconds)
{
    for (uint64_t begin = now(); seconds_since(begin) < seconds;) turn(SECOND / 100);
}

static void open_streams(void)
{
    uint64_t begin = now(), all = (uint64_t)options.streams;
    int opened = 0;
    streams = allocated(calloc(all + 1, sizeof *streams));
    while (counts.ready + counts.failed < all && seconds_since(begin) <= options.timeout) {
        for (; opened < options.streams && (uint64_t)opened - counts.ready - counts.failed < connecting_max; opened++) {
            connect_to_server(&streams[opened], opened, false);
        }
        turn(SECOND / 100);
    }
    if (counts.ready < all) fprintf(stderr, "load: only %llu of %d streams are ready\n", (unsigned long long)counts.ready, options.streams);
    for (int i = 0; i < options.streams; i++) expect_deliveries_to(&streams[i]);
}

/// Starts the figures after all events of the warm-up have been delivered.
static void end_warm_up(Readings *readings)
{
    is_warm = true;
    due_count = 0;
    readings->warm = read_processes();
    readings->machine_warm = read_machine();
    readings->own_cpu = own_cpu_seconds();
    readings->bytes = counts.bytes;
    warm_at = now();
}

/// Publishes the events that are due. Returns the longest wait of the next turn.
static uint64_t publish_due(void)
{
    uint64_t most = is_warm ? options.count : options.warm_up;
    for (int i = 0; i < options.publishers && counts.published < most; i++) {
        if (!publishers[i].is_connected || publishers[i].is_busy) continue;
        if (options.rate > 0) {
            uint64_t due = warm_at + (uint64_t)((double)due_count / options.rate * (double)SECOND), moment = now();
            if (due > moment) return due - moment < turn_most ? due - moment : turn_most;
            due_count++;
            publish(&publishers[i], due);
        } else if (!options.window || counts.open < (uint64_t)options.window) {
            publish(&publishers[i], now());
        }
    }
    return turn_most;
}

static bool is_over(void)
{
    return counts.published >= options.count || (options.seconds > 0 && is_warm && seconds_since(warm_at) >= options.seconds);
}

/// Publishes all events, and waits for the deliveries that are still due.
static void publish_all(Readings *readings)
{
    counts.last_progress = warm_at = now();
    while (!is_over() && counts.stalls <= stalls_max) {
        if (!is_warm && counts.published >= options.warm_up && !counts.open) end_warm_up(readings);
        turn(publish_due());
        if (counts.open && seconds_since(counts.last_progress) > options.stall) {
            counts.stalls++;
            give_up_open_events();
            counts.last_progress = now();
        }
    }
    while ((counts.open || counts.answered < counts.published) && seconds_since(counts.last_progress) < options.drain) turn(SECOND / 50);
}

static void end_measurement(Readings *readings)
{
    uint64_t end = counts.last_progress > warm_at ? counts.last_progress : now();
    readings->seconds = (double)(end - warm_at) / (double)SECOND;
    readings->own_cpu = own_cpu_seconds() - readings->own_cpu;
    readings->end = read_processes();
    readings->machine_end = read_machine();
    readings->bytes = counts.bytes - readings->bytes;
    pass(0.1); // Duplicates of the last events may still come.
}

int main(int argc, char **argv)
{
    Readings readings = {0};
    read_options(argc, argv);
    prepare_connections();
    prepare_deliveries();

    readings.start = read_processes();
    uint64_t begin = now();
    open_streams();
    readings.connect_seconds = seconds_since(begin);
    for (int i = 0; i < options.publishers; i++) connect_to_server(&publishers[i], i, true);
    pass(options.settle);
    readings.connected = read_processes();

    if (options.idle > 0) {
        pass(options.idle);
        Processes idle = read_processes();
        readings.idle_share = (idle.user + idle.system - readings.connected.user - readings.connected.system) / options.idle;
    }
    publish_all(&readings);
    end_measurement(&readings);
    print_report(&readings);
    return is_faultless() ? 0 : 3;
}
