import RivuletAuth
import RivuletEventLoop

/// The identities that replace earlier ones after a reload, while a pass over the streams is under way.
///
/// The streams of one credential share their identity, so it is made once for all of them. A policy with variables is
/// bound to each caller, which may take milliseconds. So a step has fewer streams if its identities are large.
struct RenewedIdentities {
    /// The most identities that are remembered, and the most bytes of their grants; then all of them are forgotten.
    static let (countMax, bytesMax) = (1_024, 33_554_432)
    /// The bytes of new grants beyond which the next step has half as many streams.
    static let bytesPerStepMax = 1_048_576
    /// The streams of the first step.
    static let streamsAtFirst = 8

    /// The earlier identities are kept, because the address of a freed object may be that of another one.
    private var identities: [ObjectIdentifier: (former: Identity, present: Identity?)] = [:]
    private var bytes = 0
    private var bytesOfStep = 0
    /// The authenticator that has made the identities.
    private var authenticator: UInt64?
    /// The streams of the next step.
    private(set) var streamsPerStep = streamsAtFirst

    /// Returns the identity of an earlier authenticator's caller under the present keys and rules.
    ///
    /// The result is nil if the caller has to send its credential again.
    mutating func identity(again former: Identity, by authenticator: Authenticator) -> Identity? {
        if self.authenticator != authenticator.number || identities.count >= Self.countMax || bytes > Self.bytesMax {
            (identities, bytes, self.authenticator) = ([:], 0, authenticator.number)
        }
        if let known = identities[ObjectIdentifier(former)] { return known.present }
        let present = authenticator.identify(again: former)
        identities[ObjectIdentifier(former)] = (former, present)
        bytesOfStep += present?.grantBytes ?? 0
        bytes += (present?.grantBytes ?? 0) + former.grantBytes
        return present
    }

    /// Ends a step, and sets the number of streams of the next one.
    mutating func endStep() {
        let isLarge = bytesOfStep > Self.bytesPerStepMax
        streamsPerStep = isLarge ? max(streamsPerStep / 2, 1) : min(streamsPerStep * 2, StreamPass.streamsPerStepMax)
        bytesOfStep = 0
    }
}
