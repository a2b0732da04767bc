// Checksums of SQLite's pages, in the format of SQLite's own checksum VFS.
//
// If the header of a database has 8 reserved bytes, each page has a checksum at its end. The checksum is written with
// the page to the database file, and verified when the page is read. The write-ahead log has its own checksums and is
// not changed. Source: <https://sqlite.org/cksumvfs.html>
#pragma once
#include <stdbool.h>
#include <stdint.h>

/// The number of bytes that a database reserves at the end of each page for the checksum.
enum { page_checksums_reserved_bytes = 8 };

/// The name of the VFS, which connections with checksums use.
#define PAGE_CHECKSUMS_VFS "rivulet-pages"

/// A file control that fills a `page_checksums_state`.
enum { page_checksums_control = 0x52495655 };

/// The state of an open database file.
struct page_checksums_state {
    /// True if its pages have checksums.
    bool is_checked;
    /// The last page that failed its checksum, from 1; 0 if none has.
    int64_t failed_page;
    /// The first byte of that page, which is the page's kind.
    uint8_t failed_kind;
};

/// Registers the VFS with SQLite, around the default VFS; may be called again, and from any thread.
///
/// Returns SQLITE_OK, or SQLite's error code.
int page_checksums_register(void);

/// Writes the checksum of a page into its last 8 bytes; `bytes` is the size of the page.
void page_checksums_stamp(unsigned char *page, int bytes);
