// This file replaces a state as a whole, without the reducers.

package import RivuletJSON
import RivuletObservation

extension EventEngine {
    /// Applies an engine event to the state.
    ///
    /// `document` has the stored fields of the version that is restored.
    ///
    /// - Throws: An error of the document. Nothing has changed then.
    package func apply(_ event: EngineEvent, document: [UInt8], to state: inout State) throws(JSONError) -> Step {
        var failure: JSONError?
        let before = state
        let recording = ChangeRecorder.record(&state) { state in
            do throws(JSONError) {
                switch event {
                case .reset: state = definition.defaultState
                case .restored: try state.replaceStoredFields(with: document)
                }
            } catch {
                failure = error
            }
        }
        if let failure {
            state = before
            throw failure
        }
        let effect = definition.effect(after: event, state: state)
        let effects = effect.isNone ? nil : EffectList(EventEffect(eventName: event.name, effect: effect))
        return Step(recording: recording, effectList: effects)
    }
}

extension ObservableState {
    /// Replaces each field that the document has, as a whole.
    ///
    /// Transient values within such a field get their defaults.
    fileprivate mutating func replaceStoredFields(with document: [UInt8]) throws(JSONError) {
        var reader = JSONReader(document)
        try reader.object { (name, reader) throws(JSONError) in
            try _$apply(.replace, at: [name], index: nil, json: &reader)
        }
        try reader.finish()
    }
}
