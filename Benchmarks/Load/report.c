// The JSON object with all figures.
#include "load.h"
#include <stdio.h>

static double per(double value, double count) { return count > 0 ? value / count : 0; }
static double cpu(Processes of) { return of.user + of.system; }

static void print_times(const char *name, const Histogram *times)
{
    printf(" \"%s\":{\"p50\":%.1f,\"p99\":%.1f,\"p999\":%.1f,\"max\":%.1f},\n", name, quantile(times, .5), quantile(times, .99),
           quantile(times, .999), (double)times->most / 1e3);
}

static void print_count(const char *name, uint64_t count) { printf(" \"%s\":%llu,\n", name, (unsigned long long)count); }

static void print_counts(void)
{
    print_count("published", counts.published);
    print_count("expected", counts.expected);
    print_count("delivered", counts.delivered);
    printf(" \"lost\":%lld,\n", (long long)(counts.expected - counts.delivered));
    print_count("duplicate", counts.duplicate);
    print_count("out_of_order", counts.out_of_order);
    print_count("unmatched", counts.unmatched);
    print_count("other_events", counts.other_events);
    print_count("ack_errors", counts.answer_errors);
    print_count("stalls", counts.stalls);
}

static void print_server(const Readings *of, double events, double deliveries)
{
    double used = cpu(of->end) - cpu(of->warm), streams = options.streams;
    printf(" \"server\":{\"procs\":%d,\"cpu_s\":%.2f,\"cpu_user_s\":%.2f,\"cpu_sys_s\":%.2f,\"cpu_share\":%.3f,\n", of->end.count, used,
           of->end.user - of->warm.user, of->end.system - of->warm.system, per(used, of->seconds));
    printf("  \"cpu_us_per_delivery\":%.3f,\"cpu_us_per_event\":%.2f,\"connect_cpu_us_per_conn\":%.1f,\"idle_cpu_share\":%.4f,\n",
           per(used * 1e6, deliveries), per(used * 1e6, events), per((cpu(of->connected) - cpu(of->start)) * 1e6, streams), of->idle_share);
    printf("  \"pss_start\":%llu,\"pss_connected\":%llu,\"pss_end\":%llu,\"pss_per_conn\":%.0f},\n", (unsigned long long)of->start.memory,
           (unsigned long long)of->connected.memory, (unsigned long long)of->end.memory,
           per((double)of->connected.memory - (double)of->start.memory, streams));
}

void print_report(const Readings *of)
{
    double events = counts.published > options.warm_up ? (double)(counts.published - options.warm_up) : 0;
    double deliveries = (double)counts.measured;
    double used = cpu(of->end) - cpu(of->warm), other = of->machine_end.busy - of->machine_warm.busy - used - of->own_cpu;
    printf("{\"label\":\"%s\",\"subs\":%d,\"topics\":%d,\"pubs\":%d,\"window\":%d,\"rate\":%.0f,\n", options.label, options.streams,
           options.topics, options.publishers, options.window, options.rate);
    print_count("ready", counts.ready);
    print_count("closed", counts.closed);
    printf(" \"connect_s\":%.3f,\"connects_per_s\":%.0f,\n", of->connect_seconds, per((double)counts.ready, of->connect_seconds));
    print_times("connect_us", &counts.connect);
    print_counts();
    printf(" \"wall_s\":%.3f,\"events_per_s\":%.1f,\"deliveries_per_s\":%.0f,\"bytes_per_delivery\":%.1f,\n", of->seconds,
           per(events, of->seconds), per(deliveries, of->seconds), per((double)of->bytes, deliveries));
    print_times("delivery_us", &counts.delivery);
    print_times("last_delivery_us", &counts.last_delivery);
    print_times("ack_us", &counts.answer);
    print_server(of, events, deliveries);
    printf(" \"machine\":{\"other_cpu_share\":%.3f,\"steal_share\":%.3f},\n", per(other > 0 ? other : 0, of->seconds),
           per(of->machine_end.stolen - of->machine_warm.stolen, of->seconds));
    printf(" \"client\":{\"cpu_s\":%.2f,\"cpu_share\":%.3f,\"cpu_us_per_delivery\":%.3f}}\n", of->own_cpu, per(of->own_cpu, of->seconds),
           per(of->own_cpu * 1e6, deliveries));
}

bool is_faultless(void)
{
    return counts.ready == (uint64_t)options.streams && counts.expected == counts.delivered && !counts.duplicate && !counts.out_of_order
        && !counts.unmatched && !counts.answer_errors;
}
