// A disk that fails on demand: faults and counts for the files of one folder, whatever other tests do.

#ifndef RIVULET_STORAGE_FAULTS_H
#define RIVULET_STORAGE_FAULTS_H

/// Makes every `pwrite64` (0: none) and every `fdatasync` (0: none) below `folder` fail with these errno values.
///
/// Returns 0, or -1 when too many folders are watched. A folder that is watched already keeps its count.
int rivulet_faults_watch(const char *folder, int writeError, int syncError);

/// The calls of `fdatasync` below a watched folder since it was watched first; -1 when it is not watched.
long rivulet_faults_syncs(const char *folder);

/// Lets this many changes below `folder` succeed, and every later one fail with this errno value; less than 0: all succeed.
///
/// Changes are the calls of `pwrite`, `fsync`, `rename` and `unlink`. Returns as `rivulet_faults_watch` does.
int rivulet_faults_fail_after(const char *folder, long changes, int error);

/// Ends all faults below `folder`.
void rivulet_faults_forget(const char *folder);

#endif
