import { ProxyDirectory } from '@causeway/controllers';
import type { ControlPlane, Identity } from '@causeway/resources';
import { silentLogger, systemClock } from '@causeway/runtime';
import type { ProxyFacts } from '@causeway/store';
import { MemoryProxySessions } from '@causeway/store/testing';
import { TestZone, type TestGlobal } from './sync-mesh';
import { until } from './until';

interface Leading {
  start(): Leading;
  stopped(): Promise<void>;
}

/** Makes the leader of a zone, from what is known there of its proxies and of what the global sent. */
export type LeadZone = (
  plane: TestZone,
  known: {
    readonly cp: ControlPlane & { readonly role: 'zone' };
    readonly proxies: ProxyDirectory;
    readonly findPosition: (
      kind: string,
    ) => { readonly incarnation: string; readonly revision: number; readonly stored: number } | undefined;
  },
) => Promise<Leading>;

const NO_INSIGHTS = { isLoaded: true, findInsight: () => undefined, subscribe: () => () => undefined };

/** A zone with a leader, whose proxies say what the test says. */
export class ProxyZone {
  readonly plane: TestZone;
  readonly sessions: MemoryProxySessions;
  readonly directory: ProxyDirectory;
  private readonly stop = new AbortController();
  private readonly reading: Promise<void>;
  private leader: Leading | undefined;
  private version = 0;

  constructor(
    readonly name: string,
    private readonly lead: LeadZone,
  ) {
    this.plane = new TestZone(name, { insights: NO_INSIGHTS });
    this.sessions = new MemoryProxySessions(this.plane.disk);
    this.directory = new ProxyDirectory({ store: this.sessions, clock: systemClock, logger: silentLogger });
    this.reading = this.directory.run(this.stop.signal);
  }

  async join(global: TestGlobal): Promise<void> {
    const { plane, directory: proxies } = this;
    await plane.join(global);
    const cp = { role: 'zone', zone: this.name, federated: true } as const;
    const findPosition = (kind: string) => plane.sync?.findPosition(kind);
    const leader = await this.lead(plane, { cp, proxies, findPosition });
    this.leader = leader.start();
  }

  /** The proxies of the zone, with the revision up to which each has applied everything. */
  async report(applied: Readonly<Record<string, number>>, more: Partial<ProxyFacts> = {}): Promise<void> {
    const point = this.plane.index.point ?? { incarnation: '', revision: 0 };
    const sessions = Object.entries(applied).map(([name, revision]) => ({
      proxy: `default/${name}`,
      connected: true,
      facts: { ...factsOf(this.plane.id('Dataplane', name)), applied: revision, ...more },
    }));
    await this.sessions.report({ instance: 'a', version: ++this.version, ...point, isEnd: false, sessions });
    // Else a route that comes at once would be judged by what the proxies said before.
    await until('the report is read', () => {
      const known = new Map([...this.directory.all()].map(({ proxy, facts }) => [proxy, facts.applied]));
      return sessions.every(({ proxy, facts }) => known.get(proxy) === facts.applied);
    });
  }

  get revision(): number {
    return this.plane.index.point?.revision ?? 0;
  }

  async close(): Promise<void> {
    await this.leader?.stopped();
    this.stop.abort();
    await this.reading;
    await this.plane.close();
  }
}

function factsOf(owner: Identity): ProxyFacts {
  return {
    kind: 'dataplane',
    owner,
    node: owner.name,
    address: '',
    userAgent: 'envoy 1.40.0',
    form: 'delta',
    since: 1,
    streams: 1,
    types: [],
    isSettled: true,
    rejected: [],
    refused: [],
  };
}
