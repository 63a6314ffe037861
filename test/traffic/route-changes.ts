import type { ChildProcess } from 'node:child_process';
import type { RouteRule } from '@causeway/routing';
import type { ProcessPlane } from '../support/process-plane';
import { until } from '../support/until';
import type { Answer } from './request-load';
import { PORT, type TrafficMesh } from './traffic-mesh';
import { ended, PROCESS_PORT, startService } from './web-service';

/** The versions of a service, each of which answers its name. */
export const VERSIONS = ['one', 'two'] as const;
export type Version = (typeof VERSIONS)[number];
/** The field of a route that is changed so that requests of `/` go to the other version. */
export type ChangeKind = 'weight' | 'match';

/** Number of consecutive requests that must all have gone the new way before a change counts as in force. */
const ENOUGH = 100;

/** The service `one` of zone east with a second version of it, both behind one proxy, and the HTTPRoute `one` that decides between them. */
export class RoutedService {
  private constructor(
    private readonly traffic: TrafficMesh,
    private readonly processes: readonly ChildProcess[],
  ) {}

  /** Starts the processes of both versions, their Dataplane and its proxy. */
  static async start(traffic: TrafficMesh): Promise<RoutedService> {
    const address = traffic.machine();
    const places = VERSIONS.map((name, n) => ({ name, port: PORT + n, loopback: traffic.machine() }));
    const processes = await Promise.all(places.map(({ name, loopback }) => startService(name, { loopback })));
    const inbound = places.map(({ name, port, loopback: serviceAddress }) => {
      const tags = { 'kuma.io/service': name, 'kuma.io/protocol': 'http' };
      return { port, servicePort: PROCESS_PORT, serviceAddress, tags };
    });
    await traffic.put(traffic.zone('east'), 'Dataplane', 'versions', { networking: { address, inbound } });
    await traffic.proxy('east', 'versions');
    return new RoutedService(traffic, processes);
  }

  /** Puts the route so that requests of `/` go to a version. */
  put(plane: ProcessPlane, kind: ChangeKind, to: Version): Promise<void> {
    const parentRefs = [{ kind: 'Service', name: 'one', port: PORT }];
    return this.traffic.put(plane, 'HTTPRoute', 'one', { parentRefs, rules: rulesOf(kind, to) });
  }

  /** Deletes the route; requests go to `one`. */
  delete(plane: ProcessPlane): Promise<void> {
    return this.traffic.delete(plane, 'HTTPRoute', 'one');
  }

  /** Ends the processes; the installation ends the proxies. */
  async stop(): Promise<void> {
    await Promise.all(this.processes.map((process) => ended(process, 'SIGKILL')));
  }
}

function rulesOf(kind: ChangeKind, to: Version): readonly RouteRule[] {
  const backend = (version: Version) => ({ name: version, port: PORT + VERSIONS.indexOf(version) });
  if (kind === 'weight')
    return [{ backendRefs: VERSIONS.map((each) => ({ ...backend(each), weight: each === to ? 100 : 0 })) }];
  const value = to === 'two' ? '/' : '/other';
  return [
    { matches: [{ path: { type: 'Exact', value } }], backendRefs: [backend('two')] },
    { backendRefs: [backend('one')] },
  ];
}

/** Records which way the requests of a load go: give its `answered` to the load. */
export class WayOfRequests {
  private answers: Answer[] = [];

  readonly answered = (answer: Answer): void => void this.answers.push(answer);

  /** Forgets earlier answers. */
  forget(): void {
    this.answers = [];
  }

  /**
   * Waits until all requests go to a version. @returns when the first request of those began, by performance.now(): `since` if none went elsewhere
   * after it.
   */
  async all(to: Version, since: number): Promise<number> {
    await until(`requests go to ${to}`, () => this.from(to, since).length >= ENOUGH);
    return this.from(to, since).reduce((first, begun) => Math.min(first, begun), Infinity);
  }

  /** When the requests began after which none went elsewhere. */
  private from(to: Version, since: number): readonly number[] {
    const after = this.answers.filter(({ begun }) => begun >= since);
    const last = after.reduce((latest, { begun, text }) => (text === to ? latest : Math.max(latest, begun)), since);
    return after.filter(({ begun, text }) => text === to && begun >= last).map(({ begun }) => begun);
  }
}
