// Tells the thread sanitizer about Swift's Mutex, whose slow paths are in a library without instrumentation.
//
// Without this library, the sanitizer misses the order between two threads that met at a mutex, and reports a race for
// each value that the mutex protects. mutex.S has the functions of that library, and calls these before and after them.
// Source: <https://github.com/swiftlang/swift/blob/main/stdlib/public/Synchronization/Mutex/LinuxImpl.swift>

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#define HIDDEN __attribute__((visibility("hidden")))

// The functions of libswiftSynchronization.
HIDDEN void *real_lock, *real_unlock, *real_try;
// The functions of the sanitizer; null in a process without one.
static void (*acquire)(void *);
static void (*release)(void *);
static unsigned long count;

HIDDEN void did_lock(void *mutex) {
    if (acquire) acquire(mutex);
    __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
}

HIDDEN void will_unlock(void *mutex) {
    if (release) release(mutex);
}

__attribute__((constructor)) static void begin(void) {
    real_lock = dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
    real_unlock = dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
    real_try = dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF");
    acquire = (void (*)(void *))dlsym(RTLD_DEFAULT, "__tsan_acquire");
    release = (void (*)(void *))dlsym(RTLD_DEFAULT, "__tsan_release");
}

// A count of 0 means that the process does not call the functions of mutex.S.
__attribute__((destructor)) static void end(void) {
    if (acquire) fprintf(stderr, "mutex.c: %lu slow locks\n", count);
}
