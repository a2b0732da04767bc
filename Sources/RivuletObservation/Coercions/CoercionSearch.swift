/// Looks for the notes of a run while a ``ChangeCollector`` walks over its state.
@usableFromInline
final class CoercionSearch {
    /// A field of a value that may be new, with the value that a note of an initialiser has.
    struct Candidate {
        let making: CoercionNotes.Making
        let path: String
        /// Whether the value was reported as a change, so that it is more likely to be the new one.
        let isNew: Bool
    }

    /// How much was found.
    @usableFromInline
    struct Checkpoint {
        fileprivate let coercions: Int
        fileprivate let candidates: Int
    }

    let notes: CoercionNotes
    /// The type of the value whose fields are walked now.
    @usableFromInline var container: Any.Type = Never.self
    /// Whether the value that is walked for coercions has been reported as a change.
    @usableFromInline var isNewValue = false
    private var coercions: [Coercion] = []
    private var candidates: [Candidate] = []

    init(_ notes: CoercionNotes) {
        self.notes = notes
    }

    /// Keeps what a wrapper certainly changed.
    func add(_ coercion: Coercion) {
        coercions.append(coercion)
    }

    /// Keeps a field that may be that of a note whose value nobody can name for certain.
    func add(_ candidate: Candidate) {
        candidates.append(candidate)
    }

    /// All that was found, with each note of an initialiser given to one candidate: to those that changed before those that did not.
    var found: [Coercion] {
        var made = notes.made
        for making in made.keys { made[making]?.reverse() }
        var all = coercions
        for candidate in candidates.filter(\.isNew) + candidates.filter({ !$0.isNew }) {
            guard let from = made[candidate.making]?.popLast() else { continue }
            all.append(Coercion(path: candidate.path, from: from, to: candidate.making.to))
        }
        return all
    }

    /// Where `goBack` returns to, forgetting what was found after it.
    @usableFromInline var checkpoint: Checkpoint {
        Checkpoint(coercions: coercions.count, candidates: candidates.count)
    }

    @usableFromInline
    func goBack(to checkpoint: Checkpoint) {
        coercions.removeSubrange(checkpoint.coercions...)
        candidates.removeSubrange(checkpoint.candidates...)
    }
}
