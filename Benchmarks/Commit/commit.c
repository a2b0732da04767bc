// The time of a commit on this disk: the floor of a durable dispatch and of a store's insert.
//
//   cc -O2 -std=c11 -o commit commit.c -lsqlite3 && ./commit FOLDER sqlite|fdatasync BATCH SECONDS
//
// sqlite     A transaction of BATCH inserts of 200 bytes, with an integer key. The mode is WAL with synchronous FULL,
//            and the statements are prepared once.
// fdatasync  One write of BATCH times 200 bytes, and its fdatasync. It overwrites blocks of the file, as in a WAL.
//
// Each commit is timed. The output is one line of JSON.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    record_bytes = 200,
    file_bytes = 16 * 1024 * 1024,
    batch_max = 10000,
    commits_max = 4000000,
    warm_up_commits = 5
};

static int batch;

static void fail(const char *call, const char *reason)
{
    fprintf(stderr, "commit: %s: %s\n", call, reason);
    exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

// fdatasync

static int file;
static off_t position;
static char *records;

static void check(bool is_done, const char *call)
{
    if (!is_done) fail(call, strerror(errno));
}

static void prepare_file(const char *path)
{
    static char block[1024 * 1024];
    file = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    check(file >= 0, path);
    for (off_t at = 0; at < file_bytes; at += (off_t)sizeof block) {
        check(pwrite(file, block, sizeof block, at) == (ssize_t)sizeof block, "pwrite");
    }
    check(fsync(file) == 0, "fsync");
    records = malloc((size_t)batch * record_bytes);
    check(records != NULL, "malloc");
    memset(records, 'x', (size_t)batch * record_bytes);
}

static void commit_file(void)
{
    size_t count = (size_t)batch * record_bytes;
    if (position + (off_t)count > file_bytes) position = 0;
    check(pwrite(file, records, count, position) == (ssize_t)count, "pwrite");
    check(fdatasync(file) == 0, "fdatasync");
    position += (off_t)count;
}

// sqlite

static sqlite3 *database;
static sqlite3_stmt *begin, *insert, *end;
static char record[record_bytes];

static void check_status(int status, int wanted, const char *call)
{
    if (status != wanted) fail(call, sqlite3_errmsg(database));
}

static void prepare_database(const char *path)
{
    static const char schema[] =
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE log(seq INTEGER PRIMARY KEY, data BLOB NOT NULL)";
    check_status(sqlite3_open(path, &database), SQLITE_OK, path);
    check_status(sqlite3_exec(database, schema, NULL, NULL, NULL), SQLITE_OK, "schema");
    const struct { sqlite3_stmt **statement; const char *text; } statements[] = {
        {&begin, "BEGIN IMMEDIATE"}, {&insert, "INSERT INTO log(data) VALUES(?)"}, {&end, "COMMIT"},
    };
    for (int i = 0; i < 3; i++) {
        int status = sqlite3_prepare_v2(database, statements[i].text, -1, statements[i].statement, NULL);
        check_status(status, SQLITE_OK, statements[i].text);
    }
    memset(record, 'x', sizeof record);
    check_status(sqlite3_bind_blob(insert, 1, record, sizeof record, SQLITE_STATIC), SQLITE_OK, "bind");
}

static void step(sqlite3_stmt *statement)
{
    check_status(sqlite3_step(statement), SQLITE_DONE, sqlite3_sql(statement));
    sqlite3_reset(statement);
}

static void commit_database(void)
{
    step(begin);
    for (int i = 0; i < batch; i++) step(insert);
    step(end);
}

// both

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void measure(const char *mode, void (*commit)(void), double seconds)
{
    double *times = malloc(commits_max * sizeof *times);
    check(times != NULL, "malloc");
    for (int i = 0; i < warm_up_commits; i++) commit();
    long count = 0;
    double cpu = cpu_seconds(), first = now(), last = first;
    do {
        double before = last;
        commit();
        last = now();
        times[count++] = last - before;
    } while (last - first < seconds && count < commits_max);
    cpu = cpu_seconds() - cpu;
    qsort(times, (size_t)count, sizeof *times, by_value);
    double all = (double)count * batch;
    printf("{\"mode\":\"%s\",\"batch\":%d,\"commits_per_s\":%.1f,\"records_per_s\":%.0f,"
           "\"commit_us\":{\"p50\":%.0f,\"p99\":%.0f,\"max\":%.0f},\"cpu_us_per_record\":%.2f}\n",
           mode, batch, (double)count / (last - first), all / (last - first), times[count / 2] * 1e6,
           times[(long)((double)count * 0.99)] * 1e6, times[count - 1] * 1e6, cpu * 1e6 / all);
}

int main(int argc, char **argv)
{
    char path[4096];
    bool is_sqlite = argc == 5 && !strcmp(argv[2], "sqlite"), is_file = argc == 5 && !strcmp(argv[2], "fdatasync");
    batch = argc == 5 ? atoi(argv[3]) : 0;
    if ((!is_sqlite && !is_file) || batch < 1 || batch > batch_max) {
        fprintf(stderr, "usage: commit FOLDER sqlite|fdatasync BATCH SECONDS      BATCH is 1 to %d; FOLDER has no commit.* file\n", batch_max);
        return 1;
    }
    snprintf(path, sizeof path, "%s/commit.%s", argv[1], argv[2]);
    if (access(path, F_OK) == 0) fail(path, "the file exists already; remove it");
    if (is_sqlite) prepare_database(path);
    else prepare_file(path);
    measure(argv[2], is_sqlite ? commit_database : commit_file, atof(argv[4]));
    return 0;
}
