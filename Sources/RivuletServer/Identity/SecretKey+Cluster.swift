import Crypto

extension SecretKey {
    /// The fingerprint by which the nodes of a cluster find that they have the same secret; it does not reveal it.
    package var clusterFingerprint: String {
        let bytes = unsafe derived(for: "rivulet cluster fingerprint").withUnsafeBytes { unsafe Array($0.prefix(16)) }
        return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
