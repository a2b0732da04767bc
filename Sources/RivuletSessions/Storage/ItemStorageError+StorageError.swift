// Owns the way from what fails in an engine of sessions to the words of the stored family.

package import RivuletStores

extension ItemStorageError {
    /// The same failure in the words of the stored family.
    package init(_ error: StorageError) {
        self =
            switch error {
            case .unavailable(let detail): .unavailable(detail: detail)
            case .indeterminate(let detail): .indeterminate(detail: detail)
            case .full(let detail): .full(detail: detail)
            case .tooLarge(let limitBytes): .tooLarge(limitBytes: limitBytes)
            case .corrupt(_, let detail): .corrupt(detail: detail)
            case .incompatible(let detail): .incompatible(detail: detail)
            case .closed: .closed
            }
    }
}
