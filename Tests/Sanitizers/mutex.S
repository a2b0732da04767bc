# The slow paths of Mutex: each calls the function of the same name in libswiftSynchronization. See mutex.c.
    .text
    .globl "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
    .type "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF", @function
"$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF":
    push %r13
    call *real_lock(%rip)
    mov (%rsp), %rdi
    call did_lock@PLT
    pop %r13
    ret
    .globl "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
    .type "$s15Synchronization12_MutexHandleV11_unlockSlowyyF", @function
"$s15Synchronization12_MutexHandleV11_unlockSlowyyF":
    push %r13
    mov %r13, %rdi
    call will_unlock@PLT
    mov (%rsp), %r13
    call *real_unlock(%rip)
    pop %r13
    ret
    .globl "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
    .type "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF", @function
"$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF":
    push %r13
    call *real_try(%rip)
    mov (%rsp), %rdi
    movzbl %al, %eax
    push %rax
    sub $8, %rsp
    call did_lock@PLT
    add $8, %rsp
    pop %rax
    pop %r13
    ret
    .section .note.GNU-stack,"",@progbits
