// Sockets and the epoll loop. One thread.
#include "load.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    ready_max = 512,            // sockets in one turn
    received_max = 256 * 1024,  // bytes of one read
    source_addresses = 4,       // 127.0.0.1 to 127.0.0.4: one address has some 28,000 ports
    other_files = 64
};

static int poll;

void prepare_connections(void)
{
    rlim_t files = (rlim_t)(options.streams + options.publishers + other_files);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < files) fail("%d streams need %d open files, and %d are allowed here", options.streams, (int)files, (int)limit.rlim_max);
    if (limit.rlim_cur < files) limit.rlim_cur = files;
    if (setrlimit(RLIMIT_NOFILE, &limit)) fail("setrlimit: %s", strerror(errno));
    poll = epoll_create1(EPOLL_CLOEXEC);
    if (poll < 0) fail("epoll_create1: %s", strerror(errno));
}

static void bind_to_source(const Connection *connection)
{
    int yes = 1;
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK + (uint32_t)(connection->number % source_addresses)),
    };
    // connect chooses the port, because only connect knows the peer's address.
    setsockopt(connection->socket, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes);
    if (bind(connection->socket, (struct sockaddr *)&address, sizeof address)) fail("bind: %s", strerror(errno));
}

void connect_to_server(Connection *connection, int number, bool publishes)
{
    int yes = 1;
    struct sockaddr_in server = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)options.port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    *connection = (Connection){.number = number, .publishes = publishes, .topic = (uint32_t)(number % options.topics)};
    connection->socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (connection->socket < 0) fail("socket: %s", strerror(errno));
    setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    bind_to_source(connection);
    connection->began = now();
    if (connect(connection->socket, (struct sockaddr *)&server, sizeof server) && errno != EINPROGRESS) fail("connect: %s", strerror(errno));
    struct epoll_event event = {.events = EPOLLOUT, .data.ptr = connection};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, connection->socket, &event)) fail("epoll_ctl: %s", strerror(errno));
}

void close_connection(Connection *connection)
{
    if (connection->is_closed) return;
    connection->is_closed = true;
    close(connection->socket);
    free(connection->held);
    connection->held = NULL;
    if (connection->publishes) return;
    counts.closed++;
    if (!connection->is_ready) counts.failed++;
}

void send_bytes(Connection *connection, const char *bytes, size_t count)
{
    while (count) {
        ssize_t sent = send(connection->socket, bytes, count, MSG_NOSIGNAL);
        // Requests are small: the socket has room for them at once.
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (sent < 0) return; // The next read reports the end of the connection.
        bytes += sent;
        count -= (size_t)sent;
    }
}

static void on_connected(Connection *connection)
{
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(connection->socket, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error) fail("connect: %s", strerror(error));
    connection->is_connected = true;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    if (epoll_ctl(poll, EPOLL_CTL_MOD, connection->socket, &event)) fail("epoll_ctl: %s", strerror(errno));
    if (!connection->publishes) subscribe(connection);
}

/// The server has closed the connection. A publisher gets a new one.
static void on_end(Connection *connection)
{
    bool publishes = connection->publishes;
    if (connection->is_busy) {
        counts.answered++;
        counts.answer_errors++;
    }
    close_connection(connection);
    if (publishes) connect_to_server(connection, connection->number, true);
}

static void on_ready(Connection *connection)
{
    static char received[received_max];
    if (connection->is_closed) return;
    if (!connection->is_connected) {
        on_connected(connection);
        return;
    }
    ssize_t count = recv(connection->socket, received, sizeof received, 0);
    if (count > 0) {
        counts.bytes += (uint64_t)count;
        take(connection, received, (size_t)count);
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
        on_end(connection);
    }
}

void turn(uint64_t wait)
{
    struct epoll_event ready[ready_max];
    struct timespec most = {.tv_sec = (time_t)(wait / SECOND), .tv_nsec = (long)(wait % SECOND)};
    int count = epoll_pwait2(poll, ready, ready_max, &most, NULL);
    if (count < 0 && errno != EINTR) fail("epoll_pwait2: %s", strerror(errno));
    for (int i = 0; i < count; i++) on_ready(ready[i].data.ptr);
}
