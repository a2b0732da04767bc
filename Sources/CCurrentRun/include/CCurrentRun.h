// Which run of the change recorder this thread is in: Swift has no thread-local variables, and a task-local costs 60 ns a run.
#pragma once
#include <stdbool.h>
#include <stdint.h>

/// A thread's innermost run.
struct current_run {
    /// The number of the run; 0: none.
    uint64_t number;
    /// Whether the run has noted a coercion.
    bool has_notes;
};

extern _Thread_local struct current_run current_run_of_thread;

/// The innermost run of this thread.
static inline struct current_run current_run(void) { return current_run_of_thread; }

/// Enters a run, or goes back to the outer one.
static inline void set_current_run(struct current_run run) { current_run_of_thread = run; }
