// A disk that fails on demand: errors and counts for the files of one folder, independent of other tests.

#ifndef RIVULET_STORAGE_FAULTS_H
#define RIVULET_STORAGE_FAULTS_H

/// Makes every `pwrite64` and every `fdatasync` below `folder` fail with these errno values. With 0, the calls succeed.
///
/// Returns 0, or -1 if too many folders are watched. A folder that is watched already keeps its number of syncs.
int rivulet_faults_watch(const char *folder, int writeError, int syncError);

/// Returns the number of `fdatasync` calls below a folder since its first watch, or -1 if it is not watched.
long rivulet_faults_syncs(const char *folder);

/// Lets this number of changes below `folder` succeed, and makes every later one fail with this errno value. If the
/// number is less than 0, all succeed.
///
/// Changes are the calls of `pwrite`, `fsync`, `rename` and `unlink`. The function also watches the folder, and ends
/// the errors of an earlier `rivulet_faults_watch`. It returns 0, or -1 if too many folders are watched.
int rivulet_faults_fail_after(const char *folder, long changes, int error);

/// Ends all errors and counts below `folder`.
void rivulet_faults_forget(const char *folder);

#endif
