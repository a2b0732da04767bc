public import RivuletEngine

/// An app with stores, values or secrets that its sessions share.
public protocol SharingApp<State, Event>: AppDefinition {
    /// The stores that all sessions share, served and streamed at `…/stores/{name}`; none by default.
    ///
    /// Effects may change the stores too. A reducer must not, because a reducer may run again.
    var stores: [SharedStore<Self>] { get }

    /// The values that all sessions share, served and streamed at `…/values/{name}`; none by default.
    var values: [SharedValue<Self>] { get }

    /// The secrets that clients may set at `…/secrets/{name}` and cannot read there; none by default.
    var secrets: [SharedSecret<Self>] { get }
}

extension SharingApp {
    /// No stores.
    public var stores: [SharedStore<Self>] { [] }

    /// No values.
    public var values: [SharedValue<Self>] { [] }

    /// No secrets.
    public var secrets: [SharedSecret<Self>] { [] }
}
