/** Gauges that prom-client names like counters. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** Values of labels. They must not be arbitrary values from clients, because each is a time series of its own. */
export type Labels = Readonly<Record<string, string | number>>;

/** Metrics of a service. Their names get the prefix `plant_store_`. */
export interface Metrics {
  /** Adds a gauge that is read at each scrape. */
  gauge(name: string, help: string, read: () => number | Promise<number>): void;
  /** Adds a counter. Returns a function that increments it, by 1 unless it gets another amount. */
  counter(name: string, help: string, labelNames?: readonly string[]): (labels?: Labels, amount?: number) => void;
  /** Adds a histogram with these upper bounds of its buckets. Returns a function that adds a value. */
  histogram(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames?: readonly string[],
  ): (value: number, labels?: Labels) => void;
  /** The media type of {@link text}. */
  readonly contentType: string;
  /** Renders all metrics. */
  text(): Promise<string>;
}

/** Buckets for durations in seconds, up to the default `STORAGE_TIMEOUT`. */
export const DURATION_BUCKETS: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/** Creates metrics in Prometheus' text format, with those of the process. @param version The service version. */
export async function createMetrics(version: string): Promise<Metrics> {
  // Imported here, because the decorators of this entry point do not need it.
  const { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } = await import('prom-client');
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const toOptions = (name: string, help: string, labelNames: readonly string[] = []) => {
    return { name: `plant_store_${name}`, help, labelNames, registers: [registry] };
  };
  new Gauge(toOptions('build_info', 'Always 1; the label holds the version.', ['version'])).set({ version }, 1);
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    gauge(name, help, read) {
      new Gauge({
        ...toOptions(name, help),
        async collect() {
          this.set(await read());
        },
      });
    },
    counter(name, help, labelNames) {
      const counter = new Counter(toOptions(name, help, labelNames));
      return (labels = {}, amount = 1) => counter.inc(labels, amount);
    },
    histogram(name, help, buckets, labelNames) {
      const histogram = new Histogram({ ...toOptions(name, help, labelNames), buckets: [...buckets] });
      return (value, labels = {}) => histogram.observe(labels, value);
    },
  };
}
