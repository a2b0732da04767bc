/// Matches the coercion records of a run with fields while a ``ChangeCollector`` walks over the state.
@usableFromInline
final class CoercionSearch {
    /// A field that may match an initialiser's record, because it has the recorded value.
    struct Candidate {
        let making: CoercionRecords.Making
        let path: String
        /// True if the value was reported as a change, and so is probably new.
        let isNew: Bool
    }

    /// The number of findings up to a moment.
    @usableFromInline
    struct Checkpoint {
        fileprivate let coercions: Int
        fileprivate let candidates: Int
    }

    let records: CoercionRecords
    /// The type of the value that is being walked.
    @usableFromInline var container: Any.Type = Never.self
    /// True if the value that is searched for coercions has been reported as a change.
    @usableFromInline var isNewValue = false
    private var coercions: [Coercion] = []
    private var candidates: [Candidate] = []

    init(_ records: CoercionRecords) {
        self.records = records
    }

    /// Adds a coercion that is certain.
    func add(_ coercion: Coercion) {
        coercions.append(coercion)
    }

    /// Adds a field that may match an initialiser's record.
    func add(_ candidate: Candidate) {
        candidates.append(candidate)
    }

    /// All coercions that were found.
    ///
    /// Each initialiser's record is assigned to at most one candidate. Candidates with a new value come first.
    var found: [Coercion] {
        var made = records.made
        for making in made.keys { made[making]?.reverse() }
        var all = coercions
        for candidate in candidates.filter(\.isNew) + candidates.filter({ !$0.isNew }) {
            guard let from = made[candidate.making]?.popLast() else { continue }
            all.append(Coercion(path: candidate.path, from: from, to: candidate.making.to))
        }
        return all
    }

    /// The present point, to which `goBack` can return by discarding later findings.
    @usableFromInline var checkpoint: Checkpoint {
        Checkpoint(coercions: coercions.count, candidates: candidates.count)
    }

    @usableFromInline
    func goBack(to checkpoint: Checkpoint) {
        coercions.removeSubrange(checkpoint.coercions...)
        candidates.removeSubrange(checkpoint.candidates...)
    }
}
