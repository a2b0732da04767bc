// The command line.
#include "load.h"
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Options options = {
    .label = "", .get = "/sub/{k}", .post = "/pub/{k}", .body = "{\"i\":{i},\"t\":{t},\"pad\":\"{pad:72}\"}",
    .sequence_mark = "\"i\":", .time_mark = "\"t\":",
    .port = 8080, .streams = 1000, .topics = 1, .publishers = 1, .window = 1,
    .count = 1000, .settle = 0.3, .drain = 3, .stall = 5, .timeout = 60,
};

static const char usage[] =
    "usage: load [options]        127.0.0.1 only. Templates: {i} {t} {k} {j} {pad:N}\n"
    "  --port P                   the server's port (8080)\n"
    "  --subs N --topics K        N streams (1000) of K topics (1); stream j listens to topic j mod K\n"
    "  --get PATH                 path of a stream (/sub/{k})\n"
    "  --post PATH --body T       path of a publication (/pub/{k}) and its body\n"
    "  --seq-mark S --time-mark S text before {i} and {t} in the data (\"i\": and \"t\":)\n"
    "  --ready-events N           a stream is ready after N events with data (0: after the head)\n"
    "  --count M --seconds S      end after M events (1000) or S seconds, whichever comes first\n"
    "  --warmup M                 leave the first M events out of the figures\n"
    "  --rate R                   open loop: R events a second; latency counts from the due time\n"
    "  --window W                 closed loop: at most W events that some stream still has to get (1);\n"
    "                             0: each publisher waits for its answer only\n"
    "  --pubs N                   publishers (1), one POST in flight on each; not more than topics\n"
    "  --random                   topics at random instead of in turn\n"
    "  --pid P[,P]                processes of the server, for CPU and memory; children are added\n"
    "  --idle S                   hold the open streams for S seconds first, and report the CPU used\n"
    "  --settle S                 seconds between the streams and the first event (0.3)\n"
    "  --drain S --stall S        seconds without progress: at the end (3), and until open events are given up (5)\n"
    "  --timeout S                seconds until all streams have to be ready (60)\n"
    "  --label S                  copied to the output\n";

void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("load: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

void *allocated(void *memory)
{
    if (!memory) fail("no memory");
    return memory;
}

static double number(const char *name, const char *text, double least, double most)
{
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (end == text || *end || errno || !(value >= least && value <= most)) {
        fail("--%s takes a number of %.0f to %.0f, not %s", name, least, most, text);
    }
    return value;
}

static void read_processes_option(char *text)
{
    for (char *part = strtok(text, ","); part; part = strtok(NULL, ",")) {
        if (options.process_count == processes_max) fail("--pid takes at most %d processes", processes_max);
        options.processes[options.process_count++] = (int)number("pid", part, 1, 1e9);
    }
}

enum { int_max = 1000000000 };

/// One row for each option, with the destination of its value.
static const struct { const char *name; const char **text; int *whole; uint64_t *count; double *real; double most; } rows[] = {
    {.name = "label", .text = &options.label},
    {.name = "get", .text = &options.get},
    {.name = "post", .text = &options.post},
    {.name = "body", .text = &options.body},
    {.name = "seq-mark", .text = &options.sequence_mark},
    {.name = "time-mark", .text = &options.time_mark},
    {.name = "port", .whole = &options.port, .most = 65535},
    {.name = "subs", .whole = &options.streams, .most = 1000000},
    {.name = "topics", .whole = &options.topics, .most = 1000000},
    {.name = "pubs", .whole = &options.publishers, .most = publishers_max},
    {.name = "window", .whole = &options.window, .most = int_max},
    {.name = "ready-events", .whole = &options.ready_events, .most = int_max},
    {.name = "count", .count = &options.count, .most = int_max},
    {.name = "warmup", .count = &options.warm_up, .most = int_max},
    {.name = "rate", .real = &options.rate, .most = 1e9},
    {.name = "seconds", .real = &options.seconds, .most = 1e6},
    {.name = "idle", .real = &options.idle, .most = 1e6},
    {.name = "settle", .real = &options.settle, .most = 1e6},
    {.name = "drain", .real = &options.drain, .most = 1e6},
    {.name = "stall", .real = &options.stall, .most = 1e6},
    {.name = "timeout", .real = &options.timeout, .most = 1e6},
};
enum { row_count = sizeof rows / sizeof rows[0], option_random, option_pid, option_help };

static void read_row(int row, char *text)
{
    if (rows[row].text) *rows[row].text = text;
    else if (rows[row].whole) *rows[row].whole = (int)number(rows[row].name, text, 0, rows[row].most);
    else if (rows[row].count) *rows[row].count = (uint64_t)number(rows[row].name, text, 0, rows[row].most);
    else *rows[row].real = number(rows[row].name, text, 0, rows[row].most);
}

void read_options(int argc, char **argv)
{
    struct option known[row_count + 4] = {
        [row_count] = {"random", no_argument, NULL, option_random},
        {"pid", required_argument, NULL, option_pid}, {"help", no_argument, NULL, option_help}, {NULL, 0, NULL, 0},
    };
    for (int row = 0; row < row_count; row++) known[row] = (struct option){rows[row].name, required_argument, NULL, row};
    for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (option == '?') exit(1); // getopt has printed the reason.
        if (option == option_random) options.has_random_topics = true;
        else if (option == option_pid) read_processes_option(optarg);
        else if (option == option_help) { fputs(usage, stdout); exit(0); }
        else read_row(option, optarg);
    }
    if (optind < argc) fail("%s is no option; see load --help", argv[optind]);
    if (options.topics < 1 || options.publishers < 1) fail("--topics and --pubs are at least 1");
    // Each topic has one publisher, so that the order within a topic is defined.
    if (options.publishers > options.topics) fail("--pubs is at most --topics");
    if (options.warm_up >= options.count) fail("--warmup is less than --count");
    if (!*options.sequence_mark || !*options.time_mark) fail("--seq-mark and --time-mark are not empty");
}
