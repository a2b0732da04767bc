// Counts the calls of malloc and related functions in this process.
#pragma once
#include <stdint.h>

/// The number of allocations by this thread since the process began.
uint64_t allocation_count(void);

/// The bytes that the allocator has given out in this process and not got back, including its overhead.
uint64_t allocated_bytes(void);
