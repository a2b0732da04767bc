// Owns the manager of an app that does not say where its state is kept.

public import RivuletEngine
public import RivuletInProcess

extension UIStateManager {
    /// Starts with the defaults, with the stored `p` over them if there is one; `p` is kept in SQLite, see ``DataFolderStates``.
    ///
    /// - Parameters:
    ///   - defaultState: Makes the state of a beginning; also of a reset.
    ///   - persistenceKey: Under which `p` is stored; nil: nothing is, no file is opened, and a restart gives the defaults.
    ///   - dispatchFilter: As `setDispatchFilter` sets it.
    public init(
        defaultState: @escaping @Sendable () -> State,
        persistenceKey: String? = nil,
        dispatchFilter: DispatchFilter? = nil
    ) async {
        await self.init(
            defaultState: defaultState,
            persistenceKey: persistenceKey,
            storage: DataFolderStates(),
            dispatchFilter: dispatchFilter
        )
    }
}
