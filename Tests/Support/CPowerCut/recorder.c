// Records every change of the files below one folder, for Tests/EndToEnd/durability/power_cut.py. Loaded into the
// server with LD_PRELOAD.
//
// RIVULET_CUT_FOLDER is the real path of the folder, RIVULET_CUT_LOG the file to which records are appended. The record
// of a write is appended after the write, and the first record of a sync before the sync. So a sync covers all writes
// with a record before its own.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { DESCRIPTORS_MAX = 65536 };

// The same numbers are in power_cut_disk.py.
enum { CREATE = 1, WRITE, TRUNCATE, SYNC, SYNCED, RENAME, UNLINK, LINK, MAKE_FOLDER };

/// The head of a record. The name and the bytes follow it.
typedef struct {
    uint32_t kind, nameLength;
    uint64_t file, offset, length;
} record;

typedef struct {
    uint64_t file;
    /// NULL if the descriptor is not tracked.
    char *name;
} tracked;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tracked descriptors[DESCRIPTORS_MAX];
static atomic_ulong syncs;
static const char *folder;
static size_t folderLength;
static int log_ = -1;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("RIVULET_CUT_LOG");
    folder = getenv("RIVULET_CUT_FOLDER");
    if (path == NULL || folder == NULL) return;
    folderLength = strlen(folder);
    log_ = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (log_ < 0) {
        perror("recorder: RIVULET_CUT_LOG");
        _exit(70);
    }
}

/// The path below the folder, "" for the folder itself; NULL for other paths. SQLite's index of its log is left out,
/// because it is no stored data.
static const char *below(const char *path) {
    if (log_ < 0 || strncmp(path, folder, folderLength) != 0) return NULL;
    size_t length = strlen(path);
    if (length >= 4 && strcmp(path + length - 4, "-shm") == 0) return NULL;
    return path[folderLength] == 0 ? path + folderLength : path[folderLength] == '/' ? path + folderLength + 1 : NULL;
}

static void note(uint32_t kind, const char *name, uint64_t file, uint64_t offset, const void *bytes, size_t length) {
    int error = errno;
    record head = {kind, name == NULL ? 0 : (uint32_t)strlen(name), file, offset, length};
    struct iovec parts[] = {{&head, sizeof head}, {(void *)name, head.nameLength}, {(void *)bytes, length}};
    // One call, so that records of several processes do not mix.
    if (writev(log_, parts, 3) != (ssize_t)(sizeof head + head.nameLength + length)) {
        perror("recorder: the log cannot be written");
        _exit(70);
    }
    errno = error;
}

static tracked *at(int descriptor) {
    if (descriptor < 0 || descriptor >= DESCRIPTORS_MAX || descriptors[descriptor].name == NULL) return NULL;
    return &descriptors[descriptor];
}

// MARK: - Names

static int open_at(int place, const char *path, int flags, mode_t mode) {
    const char *name = below(path);
    if (name == NULL) return (int)syscall(SYS_openat, place, path, flags, mode);
    pthread_mutex_lock(&lock);
    int isNew = (flags & O_CREAT) != 0 && syscall(SYS_faccessat, AT_FDCWD, path, F_OK) != 0;
    int descriptor = (int)syscall(SYS_openat, place, path, flags, mode);
    struct stat status;
    if (descriptor >= DESCRIPTORS_MAX) _exit(70);
    if (descriptor >= 0 && fstat(descriptor, &status) == 0) {
        free(descriptors[descriptor].name);
        descriptors[descriptor] = (tracked){status.st_ino, strdup(name)};
        if (isNew) note(CREATE, name, status.st_ino, 0, NULL, 0);
        else if (flags & O_TRUNC) note(TRUNCATE, NULL, status.st_ino, 0, NULL, 0);
    }
    pthread_mutex_unlock(&lock);
    return descriptor;
}

#define MODE(flags) \
    mode_t mode = 0; \
    if (flags & (O_CREAT | __O_TMPFILE)) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
    }

int open(const char *path, int flags, ...) { MODE(flags) return open_at(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return open_at(AT_FDCWD, path, flags, mode); }
int openat(int place, const char *path, int flags, ...) { MODE(flags) return open_at(place, path, flags, mode); }
int openat64(int place, const char *path, int flags, ...) { MODE(flags) return open_at(place, path, flags, mode); }

int close(int descriptor) {
    if (at(descriptor) != NULL) {
        pthread_mutex_lock(&lock);
        free(descriptors[descriptor].name);
        descriptors[descriptor].name = NULL;
        pthread_mutex_unlock(&lock);
    }
    return (int)syscall(SYS_close, descriptor);
}

/// Makes and records a change of one name, or of two names.
static int change(uint32_t kind, const char *path, const char *other, long call, long first, long second, long third, long fourth) {
    const char *name = below(path), *otherName = other == NULL ? "" : below(other);
    if (name == NULL || otherName == NULL) return (int)syscall(call, first, second, third, fourth, 0);
    pthread_mutex_lock(&lock);
    int result = (int)syscall(call, first, second, third, fourth, 0);
    if (result == 0) note(kind, name, 0, 0, otherName, strlen(otherName));
    pthread_mutex_unlock(&lock);
    return result;
}

int rename(const char *old, const char *new) {
    return change(RENAME, old, new, SYS_renameat, AT_FDCWD, (long)old, AT_FDCWD, (long)new);
}

int link(const char *old, const char *new) {
    return change(LINK, old, new, SYS_linkat, AT_FDCWD, (long)old, AT_FDCWD, (long)new);
}

int unlink(const char *path) { return change(UNLINK, path, NULL, SYS_unlinkat, AT_FDCWD, (long)path, 0, 0); }
int mkdir(const char *path, mode_t mode) { return change(MAKE_FOLDER, path, NULL, SYS_mkdirat, AT_FDCWD, (long)path, mode, 0); }

// MARK: - Bytes

static ssize_t write_at(int descriptor, const void *bytes, size_t count, off_t offset) {
    tracked *file = at(descriptor);
    if (file == NULL) return syscall(SYS_pwrite64, descriptor, bytes, count, offset);
    pthread_mutex_lock(&lock);
    ssize_t result = syscall(SYS_pwrite64, descriptor, bytes, count, offset);
    if (result > 0) note(WRITE, NULL, file->file, offset, bytes, result);
    pthread_mutex_unlock(&lock);
    return result;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) { return write_at(descriptor, bytes, count, offset); }
ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off_t offset) { return write_at(descriptor, bytes, count, offset); }

ssize_t write(int descriptor, const void *bytes, size_t count) {
    tracked *file = at(descriptor);
    if (file == NULL) return syscall(SYS_write, descriptor, bytes, count);
    pthread_mutex_lock(&lock);
    ssize_t result = syscall(SYS_write, descriptor, bytes, count);
    if (result > 0) note(WRITE, NULL, file->file, syscall(SYS_lseek, descriptor, 0, SEEK_CUR) - result, bytes, result);
    pthread_mutex_unlock(&lock);
    return result;
}

static int truncate_to(int descriptor, off_t length) {
    tracked *file = at(descriptor);
    if (file == NULL) return (int)syscall(SYS_ftruncate, descriptor, length);
    pthread_mutex_lock(&lock);
    int result = (int)syscall(SYS_ftruncate, descriptor, length);
    if (result == 0) note(TRUNCATE, NULL, file->file, length, NULL, 0);
    pthread_mutex_unlock(&lock);
    return result;
}

int ftruncate(int descriptor, off_t length) { return truncate_to(descriptor, length); }
int ftruncate64(int descriptor, off_t length) { return truncate_to(descriptor, length); }

/// Allocates bytes. If the file becomes longer, the change is recorded as a new length.
static int allocate_to(int descriptor, int mode, off_t offset, off_t length) {
    tracked *file = at(descriptor);
    struct stat before, after;
    if (file == NULL) return (int)syscall(SYS_fallocate, descriptor, mode, offset, length);
    pthread_mutex_lock(&lock);
    int result = fstat(descriptor, &before) == 0 ? (int)syscall(SYS_fallocate, descriptor, mode, offset, length) : -1;
    if (result == 0 && fstat(descriptor, &after) == 0 && after.st_size != before.st_size)
        note(TRUNCATE, NULL, file->file, after.st_size, NULL, 0);
    pthread_mutex_unlock(&lock);
    return result;
}

int fallocate(int descriptor, int mode, off_t offset, off_t length) { return allocate_to(descriptor, mode, offset, length); }
int fallocate64(int descriptor, int mode, off_t offset, off_t length) { return allocate_to(descriptor, mode, offset, length); }
int posix_fallocate(int descriptor, off_t offset, off_t length) { return allocate_to(descriptor, 0, offset, length) == 0 ? 0 : errno; }
int posix_fallocate64(int descriptor, off_t offset, off_t length) { return allocate_to(descriptor, 0, offset, length) == 0 ? 0 : errno; }

// MARK: - Syncs

static int sync_by(long call, int descriptor) {
    tracked *file = at(descriptor);
    if (file == NULL) return (int)syscall(call, descriptor);
    tracked what = {file->file, strdup(file->name)};
    uint64_t number = ((uint64_t)getpid() << 32) + atomic_fetch_add(&syncs, 1);
    // The lock ensures that each finished write is already recorded.
    pthread_mutex_lock(&lock);
    note(SYNC, what.name, what.file, number, NULL, 0);
    pthread_mutex_unlock(&lock);
    int result = (int)syscall(call, descriptor);
    if (result == 0) note(SYNCED, what.name, what.file, number, NULL, 0);
    free(what.name);
    return result;
}

int fsync(int descriptor) { return sync_by(SYS_fsync, descriptor); }
int fdatasync(int descriptor) { return sync_by(SYS_fdatasync, descriptor); }
