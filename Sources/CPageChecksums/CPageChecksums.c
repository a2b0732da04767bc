// The VFS around SQLite's default VFS.
//
// SQLite writes only whole pages to a database file. Each page gets its checksum in SQLite's own buffer, in the
// reserved bytes. Source: <https://sqlite.org/vfs.html>
#include "CPageChecksums.h"

#include <endian.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stddef.h>
#include <string.h>

enum {
    page_bytes_min = 512,
    page_bytes_max = 65536,
    header_bytes = 100,
    page_size_offset = 16,
    reserve_offset = 20,
};

typedef struct {
    sqlite3_file base;
    /// The size of its pages; 0 if it is not known.
    int page_bytes;
    /// The last page that has failed; 0 if none has.
    sqlite3_int64 failed_page;
    /// The first byte of that page; in the first page, the byte after the header.
    unsigned char failed_kind;
    /// True if pages have checksums. Once set, no damaged header resets it.
    bool is_checked;
    /// True if the file was empty and has no first page yet.
    bool is_new;
} checked_file;

static sqlite3_vfs *default_vfs;
static sqlite3_vfs checked_vfs;
static sqlite3_io_methods checked_methods;

/// Returns the default VFS's file, which is in memory after ours.
static sqlite3_file *inner(sqlite3_file *file) { return (sqlite3_file *)((checked_file *)file + 1); }

// MARK: - Checksums

static bool is_page_size(int bytes) {
    return bytes >= page_bytes_min && bytes <= page_bytes_max && (bytes & (bytes - 1)) == 0;
}

static uint32_t word(const unsigned char *bytes) {
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return le32toh(word);
}

static void compute(const unsigned char *page, int bytes, uint32_t sums[2]) {
    uint32_t first = 0, second = 0;
#pragma GCC unroll 7
    for (int index = 0; index < bytes - page_checksums_reserved_bytes; index += 8) {
        first += word(page + index) + second;
        second += word(page + index + 4) + first;
    }
    sums[0] = htole32(first);
    sums[1] = htole32(second);
}

void page_checksums_stamp(unsigned char *page, int bytes) {
    uint32_t sums[2];
    compute(page, bytes, sums);
    memcpy(page + bytes - sizeof sums, sums, sizeof sums);
}

static bool is_right(const unsigned char *page, int bytes) {
    uint32_t sums[2];
    compute(page, bytes, sums);
    return memcmp(page + bytes - sizeof sums, sums, sizeof sums) == 0;
}

/// Returns true if a first page belongs to a file with checksums, and only the byte that says so is damaged.
static bool has_damaged_reserve(unsigned char *page, int bytes) {
    unsigned char found = page[reserve_offset];
    page[reserve_offset] = page_checksums_reserved_bytes;
    bool is_damaged = is_right(page, bytes);
    page[reserve_offset] = found;
    return is_damaged;
}

/// Returns the page size in a header; 0 if the header is damaged.
static int page_bytes_of(const unsigned char *header) {
    int bytes = header[page_size_offset] << 8 | header[page_size_offset + 1] << 16;
    return is_page_size(bytes) ? bytes : 0;
}

/// Records the properties of the file that its first page states.
static void read_first_page(checked_file *file, unsigned char *page, int bytes) {
    int page_bytes = page_bytes_of(page);
    bool has_reserve = page[reserve_offset] == page_checksums_reserved_bytes;
    if (has_reserve || (bytes == page_bytes && has_damaged_reserve(page, bytes))) {
        file->is_checked = true;
        if (page_bytes != 0) file->page_bytes = page_bytes;
    }
    file->is_new = false;
}

/// Verifies a page. The bytes after the end of the file are zeros, and the checksum of zeros is zero.
static int verify(checked_file *file, const unsigned char *page, sqlite3_int64 offset) {
    if (is_right(page, file->page_bytes)) return SQLITE_OK;
    file->failed_page = offset / file->page_bytes + 1;
    file->failed_kind = page[offset == 0 ? header_bytes : 0];
    sqlite3_log(SQLITE_IOERR_DATA, "page %lld fails its checksum", file->failed_page);
    return SQLITE_IOERR_DATA;
}

/// Verifies the pages of a part that was read. Newer versions of SQLite read long rows without the page's other bytes.
static int verify_around(checked_file *file, int bytes, sqlite3_int64 offset) {
    sqlite3_int64 start = offset - offset % file->page_bytes;
    unsigned char *page = sqlite3_malloc(file->page_bytes);
    if (page == NULL) return SQLITE_IOERR_NOMEM;
    int code = SQLITE_OK;
    for (; code == SQLITE_OK && start < offset + bytes; start += file->page_bytes) {
        sqlite3_file *base = inner(&file->base);
        code = base->pMethods->xRead(base, page, file->page_bytes, start);
        if (code == SQLITE_OK || code == SQLITE_IOERR_SHORT_READ) code = verify(file, page, start);
    }
    sqlite3_free(page);
    return code;
}

// MARK: - Files

static int checked_read(sqlite3_file *base, void *buffer, int bytes, sqlite3_int64 offset) {
    checked_file *file = (checked_file *)base;
    int code = inner(base)->pMethods->xRead(inner(base), buffer, bytes, offset);
    if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) return code;
    if (code == SQLITE_OK && offset == 0 && bytes >= page_bytes_min) read_first_page(file, buffer, bytes);
    // SQLite reads the header before its page, for the page size and the change counter. The page is verified when
    // SQLite reads the whole page.
    if (!file->is_checked || file->page_bytes == 0 || offset + bytes <= header_bytes) return code;
    // A connection that does not know the page size yet reads the first page again.
    if (offset == 0 && is_page_size(bytes) && bytes != file->page_bytes) return code;
    bool is_page = bytes == file->page_bytes && offset % bytes == 0;
    int verified = is_page ? verify(file, buffer, offset) : verify_around(file, bytes, offset);
    return verified == SQLITE_OK ? code : verified;
}

static int checked_write(sqlite3_file *base, const void *buffer, int bytes, sqlite3_int64 offset) {
    checked_file *file = (checked_file *)base;
    // SQLite's buffers are writable, and nothing else reads the reserved bytes.
    unsigned char *page = (unsigned char *)buffer;
    if (offset == 0 && bytes >= page_bytes_min && page[reserve_offset] == page_checksums_reserved_bytes) {
        file->is_checked = true;
        file->page_bytes = bytes;
    } else if (file->is_new && offset != 0 && is_page_size(bytes)) {
        // A large copy writes other pages before the first one. All new databases have checksums.
        file->is_checked = true;
        file->page_bytes = bytes;
    } else if (file->is_checked && offset == 0) {
        // The new first page reserves no bytes, so pages would have content where the checksums are.
        return SQLITE_IOERR_WRITE;
    }
    file->is_new = false;
    if (file->is_checked) {
        if (bytes != file->page_bytes || offset % bytes != 0) return SQLITE_IOERR_WRITE;
        page_checksums_stamp(page, bytes);
    }
    return inner(base)->pMethods->xWrite(inner(base), buffer, bytes, offset);
}

static int checked_control(sqlite3_file *base, int operation, void *argument) {
    checked_file *file = (checked_file *)base;
    if (operation == page_checksums_control) {
        struct page_checksums_state *state = argument;
        state->is_checked = file->is_checked;
        state->failed_page = file->failed_page;
        state->failed_kind = file->failed_kind;
        return SQLITE_OK;
    }
    if (operation == SQLITE_FCNTL_PRAGMA && file->is_checked) {
        char **words = argument;
        // Pages of another size would overwrite each other in parts.
        if (words[2] != NULL && sqlite3_stricmp(words[1], "page_size") == 0) return SQLITE_OK;
    }
    int code = inner(base)->pMethods->xFileControl(inner(base), operation, argument);
    if (code == SQLITE_OK && operation == SQLITE_FCNTL_VFSNAME) {
        *(char **)argument = sqlite3_mprintf(PAGE_CHECKSUMS_VFS "/%z", *(char **)argument);
    }
    return code;
}

static int checked_characteristics(sqlite3_file *file) {
    int found = inner(file)->pMethods->xDeviceCharacteristics(inner(file));
#ifdef SQLITE_IOCAP_SUBPAGE_READ
    found &= ~SQLITE_IOCAP_SUBPAGE_READ;
#endif
    return found;
}

/// Maps no page, because a mapped page would not be verified.
static int checked_fetch(sqlite3_file *file, sqlite3_int64 offset, int bytes, void **page) {
    (void)file, (void)offset, (void)bytes;
    *page = NULL;
    return SQLITE_OK;
}

static int checked_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *page) {
    (void)file, (void)offset, (void)page;
    return SQLITE_OK;
}

// The calls that are passed on unchanged.

static int checked_close(sqlite3_file *file) { return inner(file)->pMethods->xClose(inner(file)); }

static int checked_truncate(sqlite3_file *file, sqlite3_int64 bytes) {
    return inner(file)->pMethods->xTruncate(inner(file), bytes);
}

static int checked_sync(sqlite3_file *file, int flags) { return inner(file)->pMethods->xSync(inner(file), flags); }

static int checked_size(sqlite3_file *file, sqlite3_int64 *bytes) {
    return inner(file)->pMethods->xFileSize(inner(file), bytes);
}

static int checked_lock(sqlite3_file *file, int level) { return inner(file)->pMethods->xLock(inner(file), level); }

static int checked_unlock(sqlite3_file *file, int level) { return inner(file)->pMethods->xUnlock(inner(file), level); }

static int checked_reserved(sqlite3_file *file, int *is_reserved) {
    return inner(file)->pMethods->xCheckReservedLock(inner(file), is_reserved);
}

static int checked_sector(sqlite3_file *file) { return inner(file)->pMethods->xSectorSize(inner(file)); }

static int checked_map(sqlite3_file *file, int region, int bytes, int extends, void volatile **memory) {
    return inner(file)->pMethods->xShmMap(inner(file), region, bytes, extends, memory);
}

static int checked_shared_lock(sqlite3_file *file, int offset, int count, int flags) {
    return inner(file)->pMethods->xShmLock(inner(file), offset, count, flags);
}

static void checked_barrier(sqlite3_file *file) { inner(file)->pMethods->xShmBarrier(inner(file)); }

static int checked_unmap(sqlite3_file *file, int deletes) {
    return inner(file)->pMethods->xShmUnmap(inner(file), deletes);
}

static sqlite3_io_methods checked_methods = {
    .iVersion = 3,
    .xClose = checked_close,
    .xRead = checked_read,
    .xWrite = checked_write,
    .xTruncate = checked_truncate,
    .xSync = checked_sync,
    .xFileSize = checked_size,
    .xLock = checked_lock,
    .xUnlock = checked_unlock,
    .xCheckReservedLock = checked_reserved,
    .xFileControl = checked_control,
    .xSectorSize = checked_sector,
    .xDeviceCharacteristics = checked_characteristics,
    .xShmMap = checked_map,
    .xShmLock = checked_shared_lock,
    .xShmBarrier = checked_barrier,
    .xShmUnmap = checked_unmap,
    .xFetch = checked_fetch,
    .xUnfetch = checked_unfetch,
};

/// Records if the pages of an opened file have checksums. If the file cannot be read, SQLite reports that itself.
static void read_header(checked_file *file) {
    sqlite3_file *base = inner(&file->base);
    unsigned char header[header_bytes];
    sqlite3_int64 bytes = 0;
    if (base->pMethods->xFileSize(base, &bytes) != SQLITE_OK) return;
    file->is_new = bytes == 0;
    if (bytes == 0 || base->pMethods->xRead(base, header, sizeof header, 0) != SQLITE_OK) return;
    read_first_page(file, header, sizeof header);
    int page_bytes = page_bytes_of(header);
    if (file->is_checked || page_bytes == 0) return;
    unsigned char *page = sqlite3_malloc(page_bytes);
    if (page == NULL) return;
    if (base->pMethods->xRead(base, page, page_bytes, 0) == SQLITE_OK) read_first_page(file, page, page_bytes);
    sqlite3_free(page);
}

/// Opens a file with the default VFS. For any reason that prevents writing, the default VFS opens the file read-only
/// instead. So a second attempt is made, which fails only for a lasting reason. Without it, a writer could continue
/// that cannot write.
static int open_file(const char *name, sqlite3_file *file, int flags, int *found_flags) {
    int found = 0;
    int code = default_vfs->xOpen(default_vfs, name, file, flags, &found);
    if ((flags & SQLITE_OPEN_READWRITE) != 0 && (code != SQLITE_OK || (found & SQLITE_OPEN_READONLY) != 0)) {
        if (file->pMethods != NULL) file->pMethods->xClose(file);
        file->pMethods = NULL;
        code = default_vfs->xOpen(default_vfs, name, file, flags, &found);
    }
    if (found_flags != NULL) *found_flags = found;
    return code;
}

static int checked_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags, int *found_flags) {
    (void)vfs;
    // Only the default VFS handles journals and temporary files.
    if ((flags & SQLITE_OPEN_MAIN_DB) == 0) return open_file(name, base, flags, found_flags);
    checked_file *file = (checked_file *)base;
    memset(file, 0, sizeof *file);
    int code = open_file(name, inner(base), flags, found_flags);
    if (code != SQLITE_OK) {
        // SQLite closes only a file that has methods, also after a failure; so this file is closed here.
        if (inner(base)->pMethods != NULL) inner(base)->pMethods->xClose(inner(base));
        return code;
    }
    if (inner(base)->pMethods->iVersion < 2 || inner(base)->pMethods->xShmMap == NULL) {
        inner(base)->pMethods->xClose(inner(base));
        return SQLITE_CANTOPEN;
    }
    base->pMethods = &checked_methods;
    read_header(file);
    return SQLITE_OK;
}

// MARK: - Registration

static int registration = SQLITE_ERROR;

static void register_once(void) {
    default_vfs = sqlite3_vfs_find(NULL);
    if (default_vfs == NULL) return;
    // The other methods of the default VFS also work if another VFS calls them.
    checked_vfs = *default_vfs;
    checked_vfs.pNext = NULL;
    checked_vfs.zName = PAGE_CHECKSUMS_VFS;
    checked_vfs.szOsFile = default_vfs->szOsFile + (int)sizeof(checked_file);
    checked_vfs.xOpen = checked_open;
    registration = sqlite3_vfs_register(&checked_vfs, 0);
}

int page_checksums_register(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_once);
    return registration;
}
