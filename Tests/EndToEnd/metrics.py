# A scrape of /metrics, read with the parser of Prometheus's own client.

from prometheus_client.parser import text_string_to_metric_families


class Metrics:
    """One scrape."""

    def __init__(self, server):
        self._read(server.get("/metrics"))

    @classmethod
    def of(cls, answer):
        """The scrape that an answer has."""
        metrics = cls.__new__(cls)
        metrics._read(answer)
        return metrics

    def _read(self, answer):
        assert answer.status == 200, answer
        assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        self.families = {family.name: family for family in text_string_to_metric_families(answer.body.decode())}
        self.values = {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in self.families.values() for sample in family.samples
        }

    def __getitem__(self, key):
        name, labels = key if isinstance(key, tuple) else (key, {})
        return self.values[name, frozenset(labels.items())]

    def nonzero(self, name):
        """The values of a metric that are not 0, by the values of its labels."""
        return {
            tuple(sorted(dict(labels).items())): value for (named, labels), value in self.values.items() if named == name and value
        }
