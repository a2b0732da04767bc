// The least that a fan-out on libuv costs: the floor of Benchmarks/run and Benchmarks/instructions.
//
//   cc -O2 -std=c11 -o floor floor.c -luv && ./floor PORT [write]
//
// GET /sub/N streams topic N. POST /pub/N sends its body to all streams of N: with one uv_try_write each, or, with the
// argument `write`, with one uv_write, its request and its callback. Every other request only gets the answer: the
// floor of a dispatch. The program has one thread, no parser and no queue. A stream is dropped if its socket has no
// room. A delivery takes 97.0 instructions (2026-11-22, libuv 1.44.2, gcc 12.2: `Benchmarks/instructions hot`). glibc
// takes 7 instructions for a system call in a program with one thread, and 52 in a program with several threads.
#define _GNU_SOURCE // uv.h asks for it.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <uv.h>

enum { topics_max = 1024, received_max = 65536, frame_max = 64 };

typedef struct {
    uv_tcp_t handle;
    int topic, place; // of a stream: its topic, and its index in the topic's list
    bool streams;
} Connection;

typedef struct {
    int references;
    unsigned count;
    char bytes[];
} Chunk;

typedef struct {
    uv_write_t request;
    Chunk *chunk;
} Write;

static const char stream_head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                                  "Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n";
static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok";

static struct { Connection **members; int count, room; } topics[topics_max];
static bool with_requests;
static char received[received_max + 1];

static void check(int status, const char *call)
{
    if (status >= 0) return;
    fprintf(stderr, "floor: %s: %s\n", call, uv_strerror(status));
    exit(1);
}

static void *allocated(void *memory)
{
    if (memory) return memory;
    fprintf(stderr, "floor: no memory\n");
    exit(1);
}

static void on_close(uv_handle_t *handle) { free(handle); }

static void drop(Connection *connection)
{
    if (uv_is_closing((uv_handle_t *)&connection->handle)) return;
    if (connection->streams) {
        Connection *last = topics[connection->topic].members[--topics[connection->topic].count];
        topics[connection->topic].members[connection->place] = last;
        last->place = connection->place;
    }
    uv_close((uv_handle_t *)&connection->handle, on_close);
}

static void put(Connection *connection, const char *bytes, unsigned count)
{
    uv_buf_t buffer = uv_buf_init((char *)(uintptr_t)bytes, count);
    if (uv_try_write((uv_stream_t *)&connection->handle, &buffer, 1) != (int)count) drop(connection);
}

static void subscribe(Connection *connection, int topic)
{
    if (topics[topic].count == topics[topic].room) {
        topics[topic].room = topics[topic].room * 2 + 16;
        size_t bytes = sizeof(Connection *) * (size_t)topics[topic].room;
        topics[topic].members = allocated(realloc(topics[topic].members, bytes));
    }
    connection->streams = true;
    connection->topic = topic;
    connection->place = topics[topic].count;
    topics[topic].members[topics[topic].count++] = connection;
    put(connection, stream_head, sizeof stream_head - 1);
}

static void release(Chunk *chunk)
{
    if (--chunk->references == 0) free(chunk);
}

static void on_written(uv_write_t *request, int status)
{
    Write *write = (Write *)request;
    release(write->chunk);
    if (status < 0) drop((Connection *)request->handle);
    free(write);
}

static void put_with_request(Connection *connection, Chunk *chunk)
{
    Write *write = allocated(malloc(sizeof *write));
    uv_buf_t buffer = uv_buf_init(chunk->bytes, chunk->count);
    write->chunk = chunk;
    chunk->references++;
    check(uv_write(&write->request, (uv_stream_t *)&connection->handle, &buffer, 1, on_written), "uv_write");
}

static void publish(int topic, const char *body, size_t count)
{
    Chunk *chunk = allocated(malloc(sizeof *chunk + count + frame_max));
    chunk->count = (unsigned)snprintf(chunk->bytes, count + frame_max, "%zx\r\ndata: %.*s\n\n\r\n", count + 8, (int)count, body);
    chunk->references = 1;
    for (int i = topics[topic].count - 1; i >= 0; i--) {
        Connection *connection = topics[topic].members[i];
        if (with_requests) {
            put_with_request(connection, chunk);
        } else {
            put(connection, chunk->bytes, chunk->count);
        }
    }
    release(chunk);
}

static void on_allocate(uv_handle_t *handle, size_t hint, uv_buf_t *buffer)
{
    (void)handle, (void)hint;
    *buffer = uv_buf_init(received, received_max);
}

/// A request comes in one piece, because the client is part of the benchmark.
static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    Connection *connection = (Connection *)stream;
    if (count < 0) {
        drop(connection);
        return;
    }
    buffer->base[count] = 0;
    char *body = strstr(buffer->base, "\r\n\r\n");
    if (!body) return;
    body += 4;
    if (!strncmp(buffer->base, "GET /sub/", 9)) {
        subscribe(connection, atoi(buffer->base + 9) & (topics_max - 1));
        return;
    }
    if (!strncmp(buffer->base, "POST /pub/", 10)) {
        publish(atoi(buffer->base + 10) & (topics_max - 1), body, (size_t)(buffer->base + count - body));
    }
    put(connection, answer, sizeof answer - 1);
}

static void on_connection(uv_stream_t *listener, int status)
{
    if (status < 0) return;
    Connection *connection = allocated(calloc(1, sizeof *connection));
    check(uv_tcp_init(listener->loop, &connection->handle), "uv_tcp_init");
    check(uv_accept(listener, (uv_stream_t *)&connection->handle), "uv_accept");
    check(uv_tcp_nodelay(&connection->handle, 1), "uv_tcp_nodelay");
    check(uv_read_start((uv_stream_t *)&connection->handle, on_allocate, on_read), "uv_read_start");
}

/// Raises the limit of open files to the hard limit.
static void allow_files(void)
{
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

int main(int argc, char **argv)
{
    uv_tcp_t listener;
    struct sockaddr_in address;
    allow_files();
    with_requests = argc > 2 && !strcmp(argv[2], "write");
    check(uv_tcp_init(uv_default_loop(), &listener), "uv_tcp_init");
    check(uv_ip4_addr("127.0.0.1", argc > 1 ? atoi(argv[1]) : 9001, &address), "uv_ip4_addr");
    check(uv_tcp_bind(&listener, (struct sockaddr *)&address, 0), "uv_tcp_bind");
    check(uv_listen((uv_stream_t *)&listener, 4096, on_connection), "uv_listen");
    return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
