package import RivuletJSON

extension PathMask {
    /// Returns the granted part of requested paths; nil if nothing of them is granted.
    ///
    /// No path requests the whole state. Requested paths that are granted as a whole are returned as they are, in their
    /// order. Otherwise the result is the granted paths within them, without duplicates and without paths in others.
    package func narrow(_ requested: [JSONPointer]) -> (paths: [JSONPointer], isNarrowed: Bool)? {
        let requested = requested.isEmpty ? [JSONPointer(tokens: [])] : requested
        if requested.allSatisfy(grants) { return (requested, false) }
        let narrowed = PathMask(requested.flatMap(parts)).paths
        return narrowed.isEmpty ? nil : (narrowed, true)
    }
}
