// Times, CPU and memory of the server's processes and of the machine, from /proc.
#include "load.h"
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const uint64_t time_base = 1000000000000000000;

uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time_base + (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

double seconds_since(uint64_t time) { return (double)(now() - time) / (double)SECOND; }

void add(Histogram *histogram, uint64_t nanoseconds)
{
    uint64_t step = nanoseconds;
    if (nanoseconds >= histogram_steps) {
        // The shift that gives a value from 64 to 127.
        unsigned shift = 57 - (unsigned)__builtin_clzll(nanoseconds);
        step = shift * histogram_steps + (nanoseconds >> shift);
    }
    histogram->steps[step < histogram_size ? step : histogram_size - 1]++;
    histogram->count++;
    if (nanoseconds > histogram->most) histogram->most = nanoseconds;
}

double quantile(const Histogram *histogram, double share)
{
    uint64_t wanted = (uint64_t)(share * (double)histogram->count + 0.5), seen = 0;
    for (uint64_t step = 0; step < histogram_size && histogram->count; step++) {
        seen += histogram->steps[step];
        if (seen < (wanted ? wanted : 1)) continue;
        uint64_t shift = step < histogram_steps ? 0 : step / histogram_steps - 1;
        uint64_t least = (step - shift * histogram_steps) << shift;
        return (double)(least < histogram->most ? least : histogram->most) / 1e3;
    }
    return (double)histogram->most / 1e3;
}

static double ticks(double count) { return count / (double)sysconf(_SC_CLK_TCK); }

/// Reads the text of a file of /proc. Returns false if the process has ended.
static bool read_text(char *text, size_t room, const char *format, int process)
{
    char path[64];
    snprintf(path, sizeof path, format, process);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    text[fread(text, 1, room - 1, file)] = 0;
    fclose(file);
    return true;
}

/// The fields of /proc/PID/stat after the command's name, which may have spaces.
static const char *stat_fields(char *text, size_t room, int process)
{
    if (!read_text(text, room, "/proc/%d/stat", process)) return NULL;
    const char *end = strrchr(text, ')');
    return end ? end + 2 : NULL;
}

static bool has(const int *processes, int count, int process)
{
    for (int i = 0; i < count; i++) if (processes[i] == process) return true;
    return false;
}

/// Adds the children of these processes. Returns the new number of processes.
static int add_children(int *processes, int count)
{
    DIR *folder = opendir("/proc");
    if (!folder) return count;
    for (struct dirent *entry; count < processes_max && (entry = readdir(folder));) {
        char text[512];
        int process = atoi(entry->d_name), parent;
        const char *fields = process > 0 ? stat_fields(text, sizeof text, process) : NULL;
        if (!fields || sscanf(fields, "%*c %d", &parent) != 1) continue;
        if (has(processes, count, parent) && !has(processes, count, process)) processes[count++] = process;
    }
    closedir(folder);
    return count;
}

Processes read_processes(void)
{
    Processes sum = {0};
    int processes[processes_max], count = options.process_count, before = 0;
    memcpy(processes, options.processes, sizeof processes);
    while (count && count != before) count = add_children(processes, before = count);
    for (int i = 0; i < count; i++) {
        char text[2048];
        unsigned long user, system, kilobytes;
        const char *fields = stat_fields(text, sizeof text, processes[i]);
        if (!fields || sscanf(fields, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2) continue;
        sum.user += ticks((double)user);
        sum.system += ticks((double)system);
        sum.count++;
        if (!read_text(text, sizeof text, "/proc/%d/smaps_rollup", processes[i])) continue;
        const char *memory = strstr(text, "\nPss:");
        if (memory && sscanf(memory, "\nPss: %lu", &kilobytes) == 1) sum.memory += kilobytes * 1024;
    }
    return sum;
}

Machine read_machine(void)
{
    char text[512];
    double user, nice, system, idle, waiting, interrupts, soft_interrupts, stolen;
    if (!read_text(text, sizeof text, "/proc/stat", 0)
        || sscanf(text, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle, &waiting, &interrupts, &soft_interrupts, &stolen) != 8) {
        fail("/proc/stat has no CPU times");
    }
    return (Machine){.busy = ticks(user + nice + system + interrupts + soft_interrupts), .stolen = ticks(stolen)};
}

double own_cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}
