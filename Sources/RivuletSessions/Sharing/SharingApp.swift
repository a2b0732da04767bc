public import RivuletEngine

/// An app whose sessions share stores, values or secrets.
public protocol SharingApp<State, Event>: AppDefinition {
    /// The stores that all sessions share, served and streamed at `…/stores/{name}`; none by default.
    ///
    /// Effects change them too; no reducer does, for a reducer may run again.
    var stores: [SharedStore] { get }

    /// The values that all sessions share, served and streamed at `…/values/{name}`; none by default.
    var values: [SharedValue] { get }

    /// The secrets that clients may set at `…/secrets/{name}` and nobody reads there; none by default.
    var secrets: [SharedSecret] { get }
}

extension SharingApp {
    /// No stores.
    public var stores: [SharedStore] { [] }

    /// No values.
    public var values: [SharedValue] { [] }

    /// No secrets.
    public var secrets: [SharedSecret] { [] }
}
