/// Waits until a store has loaded, then runs `onLoad`; runs `onError` if the store cannot be read.
///
/// In Boutique this is a modifier of a SwiftUI view. Here any asynchronous code, such as an effect, can call it. Both
/// closures run in the caller's isolation.
/// Source: <Tests/Rows/Systems.md#e-25>.
public func onStoreDidLoad<Item: StorableItem>(
    _ store: Store<Item>,
    isolation: isolated (any Actor)? = #isolation,
    onLoad: () async -> Void,
    onError: ((any Error) async -> Void)? = nil
) async {
    do {
        try await store.itemsHaveLoaded()
    } catch {
        await onError?(error)
        return
    }
    await onLoad()
}

/// Waits until a store has loaded, then calls `update` with true; calls `onError` if the store cannot be read.
///
/// To set a `Binding<Bool>` as in Boutique, pass `update: { hasLoaded.wrappedValue = $0 }`.
public func onStoreDidLoad<Item: StorableItem>(
    _ store: Store<Item>,
    isolation: isolated (any Actor)? = #isolation,
    update: (Bool) async -> Void,
    onError: ((any Error) async -> Void)? = nil
) async {
    await onStoreDidLoad(store, isolation: isolation, onLoad: { await update(true) }, onError: onError)
}
