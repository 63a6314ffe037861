import type { AnsweredRequest } from '@causeway/rest';
import { createHistogram, type HistogramMetric, type MetricValue } from '@causeway/telemetry';

const METHODS: readonly string[] = ['GET', 'HEAD', 'PUT', 'POST', 'PATCH', 'DELETE', 'OPTIONS'];
/** Upper bounds of the buckets of times of requests, s. */
export const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The requests that REST has answered since the start, by method, route and status, and how long they took. */
export class RestRequests {
  private readonly counts = new Map<string, MetricValue & { value: number }>();
  /** Without watches, which take as long as their clients stay. */
  readonly seconds: HistogramMetric = createHistogram({
    name: 'rest_request_seconds',
    help: 'From the head of a REST request to the end of its answer, without watches',
    labels: ['method'],
    bounds: REQUEST_SECONDS,
  });

  /** Its labels have values of the program alone: whatever clients send, there are as many series as routes and statuses. */
  observe({ method, route, status, ms, isWatch }: AnsweredRequest): void {
    const labels = {
      method: METHODS.includes(method) ? method : 'other',
      route: route === '' ? 'unknown' : route,
      code: String(status),
    };
    const key = Object.values(labels).join(' ');
    const counted = this.counts.get(key);
    if (counted) counted.value += 1;
    else this.counts.set(key, { labels, value: 1 });
    if (!isWatch) this.seconds.observe({ method: labels.method }, ms / 1_000);
  }

  values(): Iterable<MetricValue> {
    return this.counts.values();
  }
}
