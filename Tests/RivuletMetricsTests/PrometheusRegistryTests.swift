// Checks the text that Prometheus reads.

import CoreMetrics
import RivuletMetrics
import Testing

@Suite struct PrometheusRegistryTests {
    private let registry = PrometheusRegistry()

    private func text(_ registry: PrometheusRegistry) -> String { String(decoding: registry.text(), as: UTF8.self) }

    @Test func `a described counter has its help text, its type and a line for each set of labels`() {
        registry.describe(MetricDescription("jobs_total", .counter, "Jobs.", labels: ["kind"]))
        registry.makeCounter(label: "jobs_total", dimensions: [("kind", "small")]).increment(by: 3)
        registry.makeCounter(label: "jobs_total", dimensions: [("kind", "large")]).increment(by: 0)
        #expect(
            text(registry) == """
                # HELP jobs_total Jobs.
                # TYPE jobs_total counter
                jobs_total{kind="large"} 0
                jobs_total{kind="small"} 3

                """
        )
    }

    @Test func `two handlers of one name and the same labels are one series`() {
        registry.makeCounter(label: "jobs_total", dimensions: []).increment(by: 1)
        registry.makeCounter(label: "jobs_total", dimensions: []).increment(by: 1)
        #expect(text(registry) == "# TYPE jobs_total counter\njobs_total 2\n")
    }

    @Test func `a metric that was described but never created is not in the text`() {
        registry.describe(MetricDescription("jobs_total", .counter, "Jobs."))
        #expect(text(registry).isEmpty)
    }

    @Test func `a bucket has the number of values up to its bound, and the last bucket of all values`() {
        registry.describe(MetricDescription("wait_seconds", .histogram(bounds: [0.5, 2]), "Waits."))
        let timer = registry.makeTimer(label: "wait_seconds", dimensions: [("way", "in")])
        for nanoseconds in [500_000_000, 1_000_000_000, 3_000_000_000] as [Int64] {
            timer.recordNanoseconds(nanoseconds)
        }
        #expect(
            text(registry) == """
                # HELP wait_seconds Waits.
                # TYPE wait_seconds histogram
                wait_seconds_bucket{way="in",le="0.5"} 1
                wait_seconds_bucket{way="in",le="2"} 2
                wait_seconds_bucket{way="in",le="+Inf"} 3
                wait_seconds_sum{way="in"} 4.5
                wait_seconds_count{way="in"} 3

                """
        )
    }

    @Test func `a gauge goes up and down, and is set`() {
        let meter = registry.makeMeter(label: "open", dimensions: [])
        meter.increment(by: 5)
        meter.decrement(by: 2)
        #expect(text(registry) == "# TYPE open gauge\nopen 3\n")
        meter.set(1.5)
        #expect(text(registry) == "# TYPE open gauge\nopen 1.5\n")
    }

    @Test func `a counter is exact where a Double is not, and never falls`() {
        let counter = registry.makeCounter(label: "bytes_total", dimensions: [])
        counter.increment(by: 9_007_199_254_740_992)
        counter.increment(by: 1)
        counter.increment(by: -5)
        #expect(text(registry).contains("bytes_total 9007199254740993\n"))
    }

    @Test func `invalid characters of names, labels and help texts are replaced or escaped`() {
        registry.describe(MetricDescription("a_b", .gauge, "one\ntwo \\"))
        registry.makeMeter(label: "a.b", dimensions: [("0 key", "x\"\\\ny")]).set(Int64(1))
        #expect(
            text(registry)
                == "# HELP a_b one\\ntwo \\\\\n# TYPE a_b gauge\na_b{_0_key=\"x\\\"\\\\\\ny\"} 1\n"
        )
    }

    @Test func `a name has one kind, and a handler of another kind is not in the text`() {
        registry.makeCounter(label: "jobs", dimensions: []).increment(by: 1)
        registry.makeTimer(label: "jobs", dimensions: [("a", "b")]).recordNanoseconds(1)
        registry.makeMeter(label: "jobs", dimensions: []).set(Int64(9))
        #expect(text(registry).hasPrefix("# TYPE jobs counter\njobs "))
        #expect(!text(registry).contains("_bucket"))
    }

    @Test func `series beyond the limit are left out, and a metric has their number`() {
        let registry = PrometheusRegistry(seriesMax: 1)
        for number in 1...3 { registry.makeCounter(label: "c\(number)", dimensions: []).increment(by: 1) }
        let text = text(registry)
        #expect(text.contains("c1 1\n") && !text.contains("c2"))
        #expect(text.contains("rivulet_metric_series_refused 2\n"))
    }

    @Test func `a destroyed series is removed, and makes room for another`() {
        let registry = PrometheusRegistry(seriesMax: 1)
        registry.destroyCounter(registry.makeCounter(label: "a", dimensions: []))
        registry.makeCounter(label: "b", dimensions: []).increment(by: 1)
        #expect(text(registry) == "# TYPE b counter\nb 1\n")
    }
}
