// The import of libuv, and the few functions around it that Swift cannot express.
#ifndef RIVULET_CLIBUV_SHIM_H
#define RIVULET_CLIBUV_SHIM_H

#include <errno.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <uv.h>

// Written for this release, the one of Debian 12; libuv keeps its interface stable within 1.x.
#if UV_VERSION_HEX < ((1 << 16) | (44 << 8))
#error "Rivulet needs libuv 1.44 or later"
#endif

// libuv writes with write(2), so a write to a closed peer raises SIGPIPE. SIG_IGN is a cast macro that Swift cannot
// import.
static inline void rivulet_ignore_sigpipe(void) { (void)signal(SIGPIPE, SIG_IGN); }

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

// Writes the bytes that the kernel takes at once. Returns their number, or -errno (-EAGAIN: none now). Raises no
// SIGPIPE.
//
// Equals uv_try_write for a stream with nothing queued. glibc's write and send are cancellation points, which cost a
// process with several threads 45 instructions each time. That is as much as the rest of a delivery. syscall is not a
// cancellation point. Source: pthreads(7), send(2).
static inline long rivulet_send(int socket, const void *bytes, size_t count) {
    for (;;) {
        long sent = syscall(SYS_sendto, socket, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT, (void *)0, 0);
        if (sent >= 0) return sent;
        if (errno != EINTR) return -errno;
    }
}

// Lowers the priority of the calling thread, which has long jobs. On Linux, the 0 means the calling thread. Source:
// setpriority(2).
static inline void rivulet_yield_to_loops(void) { (void)setpriority(PRIO_PROCESS, 0, 5); }

// Returns freed memory of all threads to the system. Only glibc keeps so much of it. Source: malloc_trim(3).
static inline void rivulet_trim_memory(void) {
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
}

// Makes each block of 256 KiB or more come from the system, and go back when it is freed. By default glibc raises this
// threshold when the first large block is freed, and keeps later blocks in an arena for each thread. Up to 4 MiB at the
// top of an arena stay. Source: mallopt(3).
static inline void rivulet_return_large_blocks(void) {
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, 256 << 10);
    (void)mallopt(M_TRIM_THRESHOLD, 4 << 20);
#endif
}

// An event descriptor that is not inherited by child processes, or -errno. Source: eventfd(2).
static inline int rivulet_event(void) {
    int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return event < 0 ? -errno : event;
}

// Makes the descriptor readable. The write fails only if the count would overflow, and then the descriptor is readable
// already.
static inline void rivulet_event_signal(int event) {
    uint64_t one = 1;
    while (syscall(SYS_write, event, &one, sizeof one) < 0 && errno == EINTR) {}
}

// Makes the descriptor unreadable. The read fails only if the descriptor is unreadable already.
static inline void rivulet_event_clear(int event) {
    uint64_t count;
    while (syscall(SYS_read, event, &count, sizeof count) < 0 && errno == EINTR) {}
}

#endif
