package import RivuletAccess

/// The caller of a dispatch, with the permissions that its session checks.
///
/// It is a class, because requests are copied often, and a reference is cheap to copy.
package final class DispatchSender: Sendable {
    package let caller: Caller
    /// The events that the caller may dispatch.
    package let events: NameSet
    /// The part of the state that answers show to the caller.
    package let reads: PathMask
    /// True if the caller's event may create the session.
    package let mayCreate: Bool
    /// The caller as the log names it, for entries without a command id; nil if the caller gave no credential.
    let entrySender: EntrySender?

    package init(_ caller: Caller, events: NameSet, reads: PathMask, mayCreate: Bool) {
        (self.caller, self.events, self.reads, self.mayCreate) = (caller, events, reads, mayCreate)
        entrySender = caller.owner.map { EntrySender(commandID: nil, by: $0) }
    }

    /// The name of the caller in the log, and as the owner of a session that it creates; nil if the caller gave no
    /// credential.
    var name: String? { entrySender?.by }

    /// The mask of the answers; nil if they show the whole state.
    var mask: PathMask? { reads.isAll ? nil : reads }
}

extension Caller {
    /// The name of the caller in logs and as the owner of a session; nil for an anonymous caller and for the app.
    ///
    /// The `me` of an anonymous caller is the id of its session. Where a policy grants all sessions whose ids a caller
    /// knows, the id opens the session, so no other caller may see it.
    package var owner: String? { isAnonymous || isApp ? nil : me }
}
