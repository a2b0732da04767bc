// Replaces the functions of libc by which engines change files, in the test program.

#define _GNU_SOURCE
#include "CStorageFaults.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FOLDERS_MAX = 64 };

typedef struct {
    char path[PATH_MAX];
    int writeError;
    int syncError;
    long syncs;
    /// The number of changes that still succeed. If it is less than 0, all changes succeed.
    long changesLeft;
    int changeError;
} watched_folder;

static watched_folder watched[FOLDERS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int watchedCount;

static watched_folder *find(const char *folder) {
    for (int index = 0; index < FOLDERS_MAX; index++) {
        if (watched[index].path[0] != 0 && strcmp(watched[index].path, folder) == 0) return &watched[index];
    }
    return NULL;
}

int rivulet_faults_watch(const char *folder, int writeError, int syncError) {
    int result = 0;
    pthread_mutex_lock(&lock);
    watched_folder *entry = find(folder);
    for (int index = 0; entry == NULL && index < FOLDERS_MAX; index++) {
        if (watched[index].path[0] != 0) continue;
        entry = &watched[index];
        memset(entry, 0, sizeof *entry);
        snprintf(entry->path, sizeof entry->path, "%s", folder);
        entry->changesLeft = -1;
        atomic_fetch_add(&watchedCount, 1);
    }
    if (entry == NULL) {
        result = -1;
    } else {
        entry->writeError = writeError;
        entry->syncError = syncError;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

long rivulet_faults_syncs(const char *folder) {
    pthread_mutex_lock(&lock);
    watched_folder *entry = find(folder);
    long syncs = entry == NULL ? -1 : entry->syncs;
    pthread_mutex_unlock(&lock);
    return syncs;
}

void rivulet_faults_forget(const char *folder) {
    pthread_mutex_lock(&lock);
    watched_folder *entry = find(folder);
    if (entry != NULL) {
        entry->path[0] = 0;
        atomic_fetch_sub(&watchedCount, 1);
    }
    pthread_mutex_unlock(&lock);
}

/// Returns the errno value with which a call on this descriptor must fail, or 0.
static int fault(int descriptor, int isSync) {
    if (atomic_load(&watchedCount) == 0) return 0;
    char link[64];
    char path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t count = readlink(link, path, sizeof path - 1);
    if (count < 0) return 0;
    path[count] = 0;
    int error = 0;
    pthread_mutex_lock(&lock);
    for (int index = 0; index < FOLDERS_MAX; index++) {
        watched_folder *entry = &watched[index];
        size_t length = strlen(entry->path);
        if (length == 0 || strncmp(path, entry->path, length) != 0 || path[length] != '/') continue;
        if (isSync) entry->syncs++;
        error = isSync ? entry->syncError : entry->writeError;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    int error = fault(descriptor, 0);
    if (error != 0) {
        errno = error;
        return -1;
    }
    return syscall(SYS_pwrite64, descriptor, bytes, count, offset);
}

int fdatasync(int descriptor) {
    int error = fault(descriptor, 1);
    if (error != 0) {
        errno = error;
        return -1;
    }
    return (int)syscall(SYS_fdatasync, descriptor);
}

// MARK: - Calls of the file engines

int rivulet_faults_fail_after(const char *folder, long changes, int error) {
    int result = rivulet_faults_watch(folder, 0, 0);
    pthread_mutex_lock(&lock);
    watched_folder *entry = find(folder);
    if (entry != NULL) {
        entry->changesLeft = changes;
        entry->changeError = error;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

/// Counts a change of a path. Returns the errno value with which the change must fail, or 0.
static int change_fault(const char *path) {
    int error = 0;
    pthread_mutex_lock(&lock);
    for (int index = 0; index < FOLDERS_MAX; index++) {
        watched_folder *entry = &watched[index];
        size_t length = strlen(entry->path);
        if (length == 0 || entry->changesLeft < 0 || strncmp(path, entry->path, length) != 0) continue;
        if (path[length] != '/') continue;
        if (entry->changesLeft == 0) {
            error = entry->changeError;
        } else {
            entry->changesLeft--;
        }
    }
    pthread_mutex_unlock(&lock);
    return error;
}

static int descriptor_change_fault(int descriptor) {
    if (atomic_load(&watchedCount) == 0) return 0;
    char link[64];
    char path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t count = readlink(link, path, sizeof path - 1);
    if (count < 0) return 0;
    path[count] = 0;
    return change_fault(path);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    int error = descriptor_change_fault(descriptor);
    if (error != 0) {
        errno = error;
        return -1;
    }
    return syscall(SYS_pwrite64, descriptor, bytes, count, offset);
}

int fsync(int descriptor) {
    int error = descriptor_change_fault(descriptor);
    if (error != 0) {
        errno = error;
        return -1;
    }
    return (int)syscall(SYS_fsync, descriptor);
}

int rename(const char *old, const char *new) {
    int error = atomic_load(&watchedCount) == 0 ? 0 : change_fault(old);
    if (error != 0) {
        errno = error;
        return -1;
    }
    return (int)syscall(SYS_renameat2, AT_FDCWD, old, AT_FDCWD, new, 0);
}

int unlink(const char *path) {
    int error = atomic_load(&watchedCount) == 0 ? 0 : change_fault(path);
    if (error != 0) {
        errno = error;
        return -1;
    }
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}
