// The variable that the functions of the header use.
#include "CCurrentRun.h"

_Thread_local struct current_run current_run_of_thread;
