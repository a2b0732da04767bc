package import RivuletJSON

extension PathMask {
    /// Returns the granted part of requested paths; nil if nothing of them is granted.
    ///
    /// No path requests the whole state. Requested paths that are granted as a whole are returned as they are, in their
    /// order. Otherwise the result is the granted paths within them, without duplicates and without paths in others.
    ///
    /// A few requested paths with patterns meet every path of a large mask. So the work ends at more than `partsMax`
    /// granted paths within the requested ones, and the result has this many paths then, and is not complete.
    package func narrow(
        _ requested: [JSONPointer],
        partsMax: Int = .max
    ) -> (paths: [JSONPointer], isNarrowed: Bool)? {
        let requested = requested.isEmpty ? [JSONPointer(tokens: [])] : requested
        if requested.allSatisfy(grants) { return (requested, false) }
        var (found, count, tokens) = (MaskNode(), 0, [String]())
        // Without the requested paths that others contain, fewer paths meet the same part twice.
        let isComplete = PathMask(requested).paths.allSatisfy { path in
            root.meet(path.tokens[...], from: &tokens) { part in
                if found.insert(part[...]) { count += 1 }
                return count <= partsMax
            }
        }
        let narrowed = isComplete ? PathMask(root: found.minimized(under: []) ?? MaskNode()) : PathMask(root: found)
        return narrowed.isNone ? nil : (narrowed.paths, true)
    }
}
