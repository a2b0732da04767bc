// The least that a crowd on a state costs on libuv: the floor of `Benchmarks/run crowd`.
//
//   cc -O2 -std=c11 -o snapshots snapshots.c -luv && ./snapshots PORT BYTES
//
// Each request gets the same BYTES in one uv_write: a head and a body of one letter. Its connection stays open as a
// stream does. The program has one thread and no parser. It encodes and counts nothing.
#define _GNU_SOURCE // uv.h asks for it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <uv.h>

enum { received_max = 65536 };

static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n\r\n";

static uv_buf_t snapshot;
static char received[received_max];

static void check(int status, const char *call)
{
    if (status >= 0) return;
    fprintf(stderr, "snapshots: %s: %s\n", call, uv_strerror(status));
    exit(1);
}

static void *allocated(size_t count)
{
    void *memory = malloc(count);
    if (memory) return memory;
    fprintf(stderr, "snapshots: no memory\n");
    exit(1);
}

static void on_close(uv_handle_t *handle) { free(handle); }

static void on_written(uv_write_t *request, int status)
{
    (void)status; // A connection that ended is closed when it is read.
    free(request);
}

static void on_allocate(uv_handle_t *handle, size_t hint, uv_buf_t *buffer)
{
    (void)handle, (void)hint;
    *buffer = uv_buf_init(received, received_max);
}

/// A request comes in one piece, because the client is part of the benchmark.
static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    (void)buffer;
    if (count < 0) {
        uv_close((uv_handle_t *)stream, on_close);
    } else if (count > 0) {
        uv_write_t *request = allocated(sizeof *request);
        check(uv_write(request, stream, &snapshot, 1, on_written), "uv_write");
    }
}

static void on_connection(uv_stream_t *listener, int status)
{
    if (status < 0) return;
    uv_tcp_t *connection = allocated(sizeof *connection);
    check(uv_tcp_init(listener->loop, connection), "uv_tcp_init");
    check(uv_accept(listener, (uv_stream_t *)connection), "uv_accept");
    check(uv_tcp_nodelay(connection, 1), "uv_tcp_nodelay");
    check(uv_read_start((uv_stream_t *)connection, on_allocate, on_read), "uv_read_start");
}

int main(int argc, char **argv)
{
    uv_tcp_t listener;
    struct sockaddr_in address;
    struct rlimit files;
    size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    if (count < sizeof head) {
        fprintf(stderr, "usage: snapshots PORT BYTES, at least %zu bytes\n", sizeof head);
        return 2;
    }
    snapshot = uv_buf_init(allocated(count), (unsigned)count);
    memset(snapshot.base, 'x', count);
    memcpy(snapshot.base, head, sizeof head - 1);
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    check(uv_tcp_init(uv_default_loop(), &listener), "uv_tcp_init");
    check(uv_ip4_addr("127.0.0.1", atoi(argv[1]), &address), "uv_ip4_addr");
    check(uv_tcp_bind(&listener, (struct sockaddr *)&address, 0), "uv_tcp_bind");
    check(uv_listen((uv_stream_t *)&listener, 4096, on_connection), "uv_listen");
    return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
