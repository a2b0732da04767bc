// The current run of the change recorder in this thread. Swift has no thread-local variables, and a task-local costs 60
// ns for each run.
#pragma once
#include <stdbool.h>
#include <stdint.h>

/// A thread's innermost run.
struct current_run {
    /// The number of the run; 0 if there is none.
    uint64_t number;
    /// True if the run has recorded a coercion.
    bool has_records;
};

extern _Thread_local struct current_run current_run_of_thread;

/// Returns the innermost run of this thread.
static inline struct current_run current_run(void) { return current_run_of_thread; }

/// Enters a run, or returns to the outer one.
static inline void set_current_run(struct current_run run) { current_run_of_thread = run; }
