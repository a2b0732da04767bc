// Part of Rivulet. See README.md for the architecture.
// Owns how changes that wait for a log entry are kept few.

import RivuletJSON
package import RivuletObservation

extension [StateChange] {
    /// The most changes to the elements of one collection that wait for an entry one by one.
    private static var elementChangesMax: Int { 1_024 }

    /// These changes and then later ones, without those of these that the later ones make up for.
    ///
    /// Making them in order leads to the same stored state.
    package func followed(by later: [StateChange]) -> [StateChange] {
        let lasting = later.lazy.filter { !$0.isTransient }
        let covering = Set(lasting.filter { $0.operation != .move }.map { PathText($0.path) })
        let replaced = Set(lasting.filter { $0.operation == .replace }.map { PathText($0.path) })
        return filter { change in
            let path = PathText(change.path)
            if change.operation == .replace, replaced.contains(path) { return false }
            return !path.ancestors.contains { covering.contains($0) }
        } + later
    }

    /// These changes, with whole collections in the place of too many changes to their elements.
    func condensed<State: ObservableState>(for state: State) -> [StateChange] {
        let collections = lazy.filter { $0.operation != .replace }.compactMap { PathText($0.path).parent }
        let counts = Dictionary(collections.map { ($0, 1) }, uniquingKeysWith: +)
        let replacements = counts.filter { $0.value > Self.elementChangesMax }.keys.sorted().compactMap { path in
            try? JSONPointer(parsing: path.text)
        }.compactMap { pointer in
            state.json(at: pointer, includesTransient: false).map {
                StateChange(operation: .replace, path: pointer.description, value: $0)
            }
        }
        return replacements.isEmpty ? self : followed(by: replacements)
    }
}
