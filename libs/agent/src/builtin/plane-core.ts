import { RESOURCE_TYPES } from '@causeway/xds-server';
import type { Clock } from '@causeway/runtime';
import type { CacheChange } from '../resources/resource-reader';
import type { DecodedCluster } from './decode/clusters';
import type { DecodedListener } from './decode/listeners';
import { DecodedResources, type PlaneResources } from './decoded-resources';
import { ConnectionLimiter, PlaneListener, type ListenerTools } from './listen/plane-listener';
import { YoungGarbage } from './listen/young-garbage';
import type { UnsupportedFeature } from '../plane';
import type { PlaneEngine, PlaneLimits } from './plane-engine';
import { ResourceNeeds, type Need } from './resource-needs';
import { PlaneStats, type StatSnapshot } from './stats';
import { TlsContexts } from './tls/tls-material';
import { Upstreams } from './upstream/upstreams';

const { cluster, endpoints, listener, routes, secret } = RESOURCE_TYPES;

/** Delay before binding to an address in use is retried, ms. */
const LISTEN_RETRY = 2_000;

export interface PlaneCoreOptions extends PlaneLimits {
  readonly clock: Clock;
  /** Returns a number in [0, 1); default: Math.random. */
  readonly random?: () => number;
}

/**
 * Dataplane within one process: serves the listeners, clusters and certificates of the resources. If a resource cannot
 * be applied, its former version stays in force.
 */
export class PlaneCore implements PlaneEngine {
  private readonly counters = new PlaneStats();
  private readonly decoded: DecodedResources;
  private readonly upstreams: Upstreams;
  private readonly contexts: TlsContexts;
  private readonly needs: ResourceNeeds;
  private readonly listeners = new Map<string, PlaneListener>();
  private readonly connectionLimiter: ConnectionLimiter;
  private readonly garbage = new YoungGarbage();
  /** Changes are applied one after the other. */
  private last: Promise<unknown> = Promise.resolve();
  private isStopped = false;

  constructor(
    resources: PlaneResources,
    private readonly options: PlaneCoreOptions,
  ) {
    this.decoded = new DecodedResources(resources);
    this.contexts = new TlsContexts(this.decoded);
    const { clock, random = Math.random, maxConnections } = options;
    this.upstreams = new Upstreams(this.decoded, this.counters, { clock, contexts: this.contexts, random });
    this.needs = new ResourceNeeds(resources);
    this.connectionLimiter = new ConnectionLimiter(maxConnections);
  }

  async start(): Promise<string | undefined> {
    const failures = [];
    for (const type of [cluster, listener])
      failures.push(await this.take({ type, names: [...this.decoded.names(type)] }));
    return joinFailures(failures.filter((failure) => failure !== undefined));
  }

  take(change: CacheChange): Promise<string | undefined> {
    const taken = this.last.then(() => this.apply(change));
    this.last = taken;
    return taken;
  }

  stats(): Promise<StatSnapshot> {
    return Promise.resolve(this.counters.snapshot());
  }

  unsupported(): Promise<readonly UnsupportedFeature[]> {
    const found = [...this.listeners.keys()].flatMap((name) => {
      const chains = [...(this.decoded.listener(name)?.chains.values() ?? [])];
      const lost = chains.flatMap(({ forwarding: { unsupported, choice } }) => {
        const ofRoutes = choice.type === 'by routes' ? this.decoded.route(choice.routes)?.unsupported : undefined;
        return ofRoutes === undefined ? unsupported : [...unsupported, ofRoutes];
      });
      return [...new Set(lost)].map((what) => ({ name, what }));
    });
    return Promise.resolve(found);
  }

  async stop(drainMs: number): Promise<void> {
    this.isStopped = true;
    await this.last;
    for (const each of this.listeners.values()) each.close(drainMs);
    this.listeners.clear();
    const { clock } = this.options;
    const until = clock.elapsed() + drainMs;
    while (this.connectionLimiter.openCount > 0 && clock.elapsed() < until)
      await clock.sleep(Math.min(20, until - clock.elapsed()));
    while (this.connectionLimiter.openCount > 0) await clock.sleep(1);
    this.upstreams.close();
  }

  private async apply({ type, names }: CacheChange): Promise<string | undefined> {
    if (this.isStopped) return undefined;
    if (type === secret) this.contexts.clear();
    if (type === cluster)
      for (const name of names) this.needs.set(`cluster ${name}`, this.listNeeds(this.decoded.cluster(name)));
    this.upstreams.changed(type, names);
    const problems = names.flatMap((name) => {
      const problem = this.decoded.problem(type, name);
      return problem === undefined ? [] : [`${name}: ${problem}`];
    });
    if (type !== listener) return joinFailures(problems);
    // Removed listeners close first: a new one may have the same address.
    const gone = names.filter((name) => !this.decoded.listener(name));
    const there = names.filter((name) => this.decoded.listener(name));
    for (const name of gone) this.closeListener(name);
    const failures = await Promise.all(there.map((name) => this.openListener(name)));
    this.counters.getStats('listener_manager', '').set('total_listeners_active', this.listeners.size);
    return joinFailures([...problems, ...failures.filter((failure) => failure !== undefined)]);
  }

  private closeListener(name: string): void {
    if (this.decoded.problem(listener, name) !== undefined) return;
    this.needs.set(`listener ${name}`, []);
    this.listeners.get(name)?.close(this.options.drain);
    this.listeners.delete(name);
  }

  private async openListener(name: string): Promise<string | undefined> {
    const plan = this.decoded.listener(name);
    if (!plan) return undefined;
    this.needs.set(`listener ${name}`, listenerNeeds(plan));
    const known = this.listeners.get(name);
    if (known?.isAt(plan.at)) {
      known.update(plan);
      return undefined;
    }
    known?.close(this.options.drain);
    const opened = new PlaneListener(plan, this.tools());
    const failure = await opened.listen();
    if (failure === undefined) {
      this.listeners.set(name, opened);
      return undefined;
    }
    this.listeners.delete(name);
    this.options.clock.after(LISTEN_RETRY, () => void this.take({ type: listener, names: [name] }));
    return `${name}: ${failure}`;
  }

  private listNeeds(plan: DecodedCluster | undefined): readonly Need[] {
    if (!plan) return [];
    const ofEndpoints = 'name' in plan.endpoints ? [{ type: endpoints, name: plan.endpoints.name }] : [];
    const ofTls = plan.transports.flatMap(({ transport }) => (transport === 'plaintext' ? [] : listSecrets(transport)));
    return [...ofEndpoints, ...ofTls];
  }

  private tools(): ListenerTools {
    const { clock, drain, share, random = Math.random } = this.options;
    return {
      clock,
      drain,
      share,
      random,
      contexts: this.contexts,
      stats: this.counters,
      connectionLimiter: this.connectionLimiter,
      garbage: this.garbage,
      destinations: {
        findUpstream: (name) => this.upstreams.getUpstream(name),
        listRouteClusters: (name) => this.decoded.route(name)?.clusters ?? [],
        findHttpVersion: (name) => this.decoded.cluster(name)?.http,
      },
    };
  }
}

function listenerNeeds({ chains }: DecodedListener): readonly Need[] {
  return [...chains.values()].flatMap(({ tls, forwarding: { choice } }) => [
    ...(tls ? listSecrets(tls) : []),
    ...(choice.type === 'by routes' ? [{ type: routes, name: choice.routes }] : []),
  ]);
}

function listSecrets({ own, peerTrust }: Parameters<TlsContexts['getMaterial']>[0]): readonly Need[] {
  return [
    ...(own && 'secret' in own ? [{ type: secret, name: own.secret }] : []),
    ...(peerTrust.type === 'secret' ? [{ type: secret, name: peerTrust.name }] : []),
  ];
}

function joinFailures(failures: readonly (string | undefined)[]): string | undefined {
  return failures.length === 0 ? undefined : failures.join('; ');
}
