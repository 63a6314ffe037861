import type { AnsweredCall } from '@causeway/grpc-api';
import type { AnsweredRequest } from '@causeway/rest';
import { createHistogram, type HistogramMetric, type MetricValue } from '@causeway/telemetry';

const METHODS: readonly string[] = ['GET', 'HEAD', 'PUT', 'POST', 'PATCH', 'DELETE', 'OPTIONS'];
/** Upper bounds of the buckets of request durations, s. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Counts the requests that an interface has answered since the start, by labels, and their duration, by method. */
class RequestMetrics {
  private readonly counts = new Map<string, MetricValue & { value: number }>();
  readonly seconds: HistogramMetric;

  constructor(name: string, help: string) {
    this.seconds = createHistogram({ name, help, labels: ['method'], bounds: BOUNDS });
  }

  values(): Iterable<MetricValue> {
    return this.counts.values();
  }

  /** Counts a request, and observes its duration if `ms` is given. Label values must come from the program, not from clients. */
  protected add(labels: { readonly method: string } & Readonly<Record<string, string>>, ms: number | undefined): void {
    const key = Object.values(labels).join(' ');
    const counted = this.counts.get(key);
    if (counted) counted.value += 1;
    else this.counts.set(key, { labels, value: 1 });
    if (ms !== undefined) this.seconds.observe({ method: labels.method }, ms / 1_000);
  }
}

/** Requests answered by REST, by method, route and status; without durations for watches, which last as long as their clients stay. */
export class RestRequests extends RequestMetrics {
  constructor() {
    super('rest_request_seconds', 'From the head of a REST request to the end of its answer, without watches');
  }

  /** Clients cannot add series: there are at most as many as routes and statuses. */
  observe({ method, route, status, ms, isWatch }: AnsweredRequest): void {
    const labels = {
      method: METHODS.includes(method) ? method : 'other',
      route: route === '' ? 'unknown' : route,
      code: String(status),
    };
    this.add(labels, isWatch ? undefined : ms);
  }
}

/** Calls answered by the gRPC API, by method and status; without durations for streams. */
export class GrpcRequests extends RequestMetrics {
  constructor() {
    super(
      'grpc_request_seconds',
      'From the metadata of a gRPC call to its status, without calls that are answered by a stream',
    );
  }

  /** Observes only calls of known methods: there are at most as many series as methods and statuses. */
  observe({ method, code, ms, isStream }: Pick<AnsweredCall, 'method' | 'code' | 'ms' | 'isStream'>): void {
    this.add({ method: method.slice(1), code }, isStream ? undefined : ms);
  }
}
