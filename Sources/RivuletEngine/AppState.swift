// Part of Rivulet. See README.md for the architecture.
// Owns WAVE's two-part state: what survives a restart and what does not.

public import RivuletObservation

/// The state of one session in two halves: `p` is stored, `t` lives in memory only.
///
/// As JSON it is `{"p":{…},"t":{…}}`, so key paths begin with `/p/` or `/t/`. After a restart `t` has its default again.
/// Replacing a half reports each differing field below it, not the half as a whole.
/// Source: spec/systems.md D-01.
@ObservableState
public struct AppState<
    Persistent: PersistentState & ObservableState,
    Transient: ObservableState & Equatable & Sendable
>: Equatable, Sendable {
    /// The persistent half: every change of it by an event with `persist` is on disk before it is acknowledged.
    @Replaceable public var p: Persistent
    /// The transient half: visible to clients like `p`, never written to disk.
    @Transient @Replaceable public var t: Transient

    /// Joins the two halves, as they stand when a session is new.
    public init(t: Transient, p: Persistent) {
        self.p = p
        self.t = t
    }
}
