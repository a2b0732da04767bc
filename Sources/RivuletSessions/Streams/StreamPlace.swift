/// What becomes of a stream that is sent something of its own.
package enum StreamPlace: Hashable, Sendable {
    /// It is a member of the group, and gets all that is delivered to it from now on.
    case group(GroupID)
    /// It has only a part of what it missed: its carrier asks for more from the cursor once that part is with the kernel.
    case more
    /// It is in no group, and its session joins it later by itself.
    case waiting
}
