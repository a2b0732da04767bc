// Counts the calls of malloc and its kin in this process.
#pragma once
#include <stdint.h>

/// How often memory was allocated since the process began, by this thread.
uint64_t allocation_count(void);

/// The bytes that the allocator has given out in this process and not got back, with its own overhead.
uint64_t allocated_bytes(void);
