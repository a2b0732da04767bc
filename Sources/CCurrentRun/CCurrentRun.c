// The variable behind the functions of the header.
#include "CCurrentRun.h"

_Thread_local struct current_run current_run_of_thread;
