import {
  HealthCheckResponse_ServingStatus as Serving,
  HealthService,
  type HealthCheckRequest,
  type HealthCheckResponse,
} from '@causeway/proto-gen';
import { readPeerAddress } from '@causeway/grpc-server';
import { afterTick, errorText, type Clock, type Timer } from '@causeway/runtime';
import { status, type handleServerStreamingCall, type handleUnaryCall, type ServerWritableStream } from '@grpc/grpc-js';
import { ConcurrentStreams } from '../calls/concurrent-streams';

/** Interval at which a watched state is read, ms. */
const POLL_INTERVAL = 500;

/** Maximum number of health watches, in total and per address: they need no credentials. */
const MAX_WATCHES = 1_000;
const MAX_WATCHES_PER_CLIENT = 100;

/** Sources of the health state. */
export interface HealthSources {
  /** Full names of the services with a health state; the server itself has one as well. */
  readonly services: readonly string[];
  /** Returns why this replica does not serve; undefined while it does. */
  readonly notReady: () => string | undefined;
  readonly clock: Clock;
}

type Watcher = ServerWritableStream<HealthCheckRequest, HealthCheckResponse>;

/** grpc.health.v1.Health: SERVING while the replica is ready, NOT_SERVING as soon as it shuts down. */
export class HealthHandlers {
  private ending = false;
  private readonly watchers = new Map<Watcher, Serving>();
  private readonly streams = new ConcurrentStreams(MAX_WATCHES, 'watches of health are', MAX_WATCHES_PER_CLIENT);
  private timer: Timer | undefined;

  constructor(private readonly sources: HealthSources) {}

  readonly definition = HealthService;

  readonly check: handleUnaryCall<HealthCheckRequest, HealthCheckResponse> = ({ request: { service } }, respond) => {
    const state = this.readState(service);
    if (state !== Serving.SERVICE_UNKNOWN) return respond(null, { status: state });
    respond({ code: status.NOT_FOUND, details: 'this server has no such service' });
  };

  readonly watch: handleServerStreamingCall<HealthCheckRequest, HealthCheckResponse> = (call) => {
    try {
      const leave = this.streams.enter(readPeerAddress(call.getPeer()));
      call.once('cancelled', () => {
        this.watchers.delete(call);
        leave();
      });
    } catch (error) {
      return void call.emit('error', { code: status.RESOURCE_EXHAUSTED, details: errorText(error) });
    }
    this.notify(call);
    this.schedule();
  };

  /** Sets everything to NOT_SERVING; watchers are notified and ended. */
  close(): void {
    this.ending = true;
    this.timer?.cancel();
    for (const call of this.watchers.keys()) {
      this.notify(call);
      call.end();
    }
    this.watchers.clear();
  }

  private readState(service: string): Serving {
    if (service !== '' && !this.sources.services.includes(service)) return Serving.SERVICE_UNKNOWN;
    return this.ending || this.sources.notReady() !== undefined ? Serving.NOT_SERVING : Serving.SERVING;
  }

  /** Sends a watcher changes only, so that a watcher that does not read costs a few bytes per change. */
  private notify(call: Watcher): void {
    const state = this.readState(call.request.service);
    if (this.watchers.get(call) === state) return;
    this.watchers.set(call, state);
    call.write({ status: state });
  }

  private schedule(): void {
    if (this.timer || this.ending) return;
    this.timer = afterTick(this.sources.clock, POLL_INTERVAL, () => {
      this.timer = undefined;
      for (const call of this.watchers.keys()) this.notify(call);
      if (this.watchers.size > 0) this.schedule();
    });
  }
}
