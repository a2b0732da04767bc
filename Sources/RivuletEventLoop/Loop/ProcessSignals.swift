internal import CLibuv

/// The dispositions of the process's signals.
package enum ProcessSignals {
    /// Whether the signal is ignored, as `nohup` does with SIGHUP for what it starts.
    package static func isIgnored(_ number: Int32) -> Bool { rivulet_signal_is_ignored(number) != 0 }

    /// Ignores a signal that would end the process; a handler that the program has set stays.
    package static func ignoreUnlessHandled(_ number: Int32) { rivulet_signal_ignore_default(number) }
}
