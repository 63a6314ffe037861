import type { AnsweredCall } from '@causeway/grpc-api';
import { createHistogram, type HistogramMetric, type MetricValue } from '@causeway/telemetry';
import { REQUEST_SECONDS } from './rest-requests';

/** The calls that the gRPC API has answered since the start, by method and status, and how long they took. */
export class GrpcRequests {
  private readonly counts = new Map<string, MetricValue & { value: number }>();
  /** Without calls that are answered by a stream. */
  readonly seconds: HistogramMetric = createHistogram({
    name: 'grpc_request_seconds',
    help: 'From the metadata of a gRPC call to its status, without calls that are answered by a stream',
    labels: ['method'],
    bounds: REQUEST_SECONDS,
  });

  /** Only calls of methods that the server has: there are as many series as methods and statuses. */
  observe({ method, code, ms, isStream }: Pick<AnsweredCall, 'method' | 'code' | 'ms' | 'isStream'>): void {
    const labels = { method: method.slice(1), code };
    const key = Object.values(labels).join(' ');
    const counted = this.counts.get(key);
    if (counted) counted.value += 1;
    else this.counts.set(key, { labels, value: 1 });
    if (!isStream) this.seconds.observe({ method: labels.method }, ms / 1_000);
  }

  values(): Iterable<MetricValue> {
    return this.counts.values();
  }
}
