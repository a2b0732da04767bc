// Owns the import of libuv and the few lines around it that Swift cannot write.
#ifndef RIVULET_CLIBUV_SHIM_H
#define RIVULET_CLIBUV_SHIM_H

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <uv.h>

// Written against this release, the one of Debian 12; libuv keeps its interface within 1.x.
#if UV_VERSION_HEX < ((1 << 16) | (44 << 8))
#error "Rivulet needs libuv 1.44 or later"
#endif

// libuv writes with write(2), so a peer that has gone raises SIGPIPE; SIG_IGN is a cast macro that Swift cannot see.
static inline void rivulet_ignore_sigpipe(void) { (void)signal(SIGPIPE, SIG_IGN); }

// Whether the process was started with, or was told, to ignore the signal, as nohup(1) does for SIGHUP.
static inline int rivulet_signal_is_ignored(int number) {
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

// Ignores a signal that would end the process; a handler that the program has set stays.
static inline void rivulet_signal_ignore_default(int number) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_DFL) (void)signal(number, SIG_IGN);
}

// Declared by the system's headers only under _GNU_SOURCE, which is too late to define here.
extern int accept4(int, struct sockaddr *, socklen_t *, int);

// Accepts a connection as non-blocking and not inherited by child processes; -1 and errno as accept4(2).
static inline int rivulet_accept(int listener, struct sockaddr *address, socklen_t *size) {
    return accept4(listener, address, size, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

// Declared by the system's headers only under _DEFAULT_SOURCE, which is too late to define here.
extern long syscall(long, ...);

// Hands the kernel what it takes at once: the number of bytes, or -errno (-EAGAIN: none now). Raises no SIGPIPE.
//
// What uv_try_write does, for a stream with nothing queued. glibc's write and send are points of cancellation, which costs a process with
// several threads 45 instructions each time, as much as the rest of a delivery; syscall is none. Source: pthreads(7), send(2).
static inline long rivulet_send(int socket, const void *bytes, size_t count) {
    for (;;) {
        long sent = syscall(SYS_sendto, socket, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT, (void *)0, 0);
        if (sent >= 0) return sent;
        if (errno != EINTR) return -errno;
    }
}

// An event descriptor that is not inherited by child processes, or -errno. Source: eventfd(2).
static inline int rivulet_event(void) {
    int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return event < 0 ? -errno : event;
}

// Makes the descriptor readable. It cannot fail but for a count that would overflow, and then it is readable.
static inline void rivulet_event_signal(int event) {
    uint64_t one = 1;
    while (syscall(SYS_write, event, &one, sizeof one) < 0 && errno == EINTR) {}
}

// Makes it unreadable. It cannot fail but for being so already.
static inline void rivulet_event_clear(int event) {
    uint64_t count;
    while (syscall(SYS_read, event, &count, sizeof count) < 0 && errno == EINTR) {}
}

#endif
