import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../support/until';
import { AnsweredWrites, LONGEST, WRITE, type Document } from './answered-writes';
import type { Findings } from './findings';
import type { MixedMesh, ZoneName } from './mixed-mesh';
import type { Replica } from './replicated-plane';
import { adminFetch } from '../support/admin-credential';

/** Between two rounds of a writer, ms. */
const PACE = 200;
/** Resources that the writer at the global changes in turn. */
const IN_TURN = 20;
/** At once. */
const PARALLEL = 20;

/** One step of a writer after the other. */
type Rounds = AsyncGenerator<void, void, void>;

interface Writer {
  readonly writes: AnsweredWrites;
  readonly rounds: Rounds;
}

/** A write that a replica is to show. */
interface Expected {
  readonly replica: Replica;
  readonly place: string;
  /** The number of the write; `none` for a deletion. */
  readonly want: string;
}

/** Writers, one at each zone, one at the global, that go on while replicas are replaced; each waits until its write has reached the others. */
export class TrafficOfWrites {
  private readonly writers = new Map<string, Writer>();
  private running: readonly Promise<void>[] = [];
  private isOver = true;

  constructor(
    private readonly mesh: MixedMesh,
    private readonly findings: Findings,
  ) {
    for (const plane of mesh.planes) {
      const writes = new AnsweredWrites(plane, findings);
      const rounds = isZone(plane.name) ? this.inZone(plane.name, writes) : this.atGlobal(writes);
      this.writers.set(plane.name, { writes, rounds });
    }
  }

  /** Writers continue with their last numbers. */
  start(): void {
    this.isOver = false;
    this.running = [...this.writers].map(([name, { rounds }]) => this.run(name, rounds));
  }

  /** Resolves when every writer has done its round and nothing is under way. */
  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.running);
  }

  /** Ends the writers, and waits until every replica that is to have them shows the last answered write of each path; what does not come is lost. */
  async stopAndCheck(): Promise<void> {
    await this.stop();
    let missing = this.expected();
    this.findings.count('writes_checked', missing.length);
    for (let deadline = performance.now() + LONGEST; ;) {
      const left = await this.notShown(missing);
      if (left.length === 0) return;
      // Writes that still arrive are late, not lost.
      if (left.length < missing.length) deadline = performance.now() + LONGEST;
      missing = left;
      if (performance.now() > deadline) break;
      await pause(PACE);
    }
    for (const { replica, place, want } of missing)
      this.findings.broken(`lost at ${replica.plane.name} (${replica.version.label}): write ${want} of ${place}`);
  }

  /** By each replica of the control plane that was written to, and of those that have copies. */
  private expected(): readonly Expected[] {
    return [...this.writers].flatMap(([origin, { writes }]) =>
      this.mesh.planes
        .filter(({ name }) => name === origin || hasCopies(origin, name))
        .flatMap(({ ready }) => ready)
        .flatMap((replica) =>
          [...writes.entries].map(([path, write = 'none']) => {
            return { replica, place: `${path}?zone=${zoneOf(origin)}`, want: write };
          }),
        ),
    );
  }

  private async notShown(all: readonly Expected[]): Promise<readonly Expected[]> {
    const left: Expected[] = [];
    for (let n = 0; n < all.length; n += PARALLEL)
      await Promise.all(
        all.slice(n, n + PARALLEL).map(async (one) => {
          if ((await shownWrite(one.replica.plane.restUrl + one.place)) !== one.want) left.push(one);
        }),
      );
    return left;
  }

  private async run(name: string, rounds: Rounds): Promise<void> {
    try {
      while (!this.isOver && (await rounds.next()).done !== true) await pause(PACE);
    } catch (error) {
      this.findings.broken(`the writer at ${name} has ended: ${String(error)}`);
    }
  }

  /** New services with two instances; of earlier ones an instance is changed, and one is taken away. */
  private async *inZone(zone: ZoneName, writes: AnsweredWrites): Rounds {
    const other = this.mesh.zone(zone === 'east' ? 'west' : 'east');
    for (let n = 0; ; n++) {
      const service = `written-${n}`;
      await writes.put(pathOf('dataplanes', `${service}-a`), instance(`${service}-a`, service, n));
      const began = performance.now();
      await writes.put(pathOf('dataplanes', `${service}-b`), instance(`${service}-b`, service, n));
      await this.reached(`${service} of ${zone} has an address in ${other.name}`, began, async () => {
        const found = await other.any(n).get(pathOf('meshservices', `${service}?zone=${zone}`));
        const { addresses = [], vips = [], vip } = (found?.['status'] ?? {}) as ServiceStatus;
        return (vip !== undefined || vips.length > 0) && addresses.some(({ status }) => status === 'Available');
      });
      const earlier = `written-${Math.floor(n / 2)}`;
      await writes.put(pathOf('dataplanes', `${earlier}-a`), instance(`${earlier}-a`, earlier, n));
      if (n % 3 === 2) await writes.delete(pathOf('dataplanes', `written-${n - 1}-b`));
      yield;
    }
  }

  /** A policy of the mesh that changes, and rules of names that select nothing. */
  private async *atGlobal(writes: AnsweredWrites): Rounds {
    for (let n = 0; ; n++) {
      const { path, document } = n % 2 === 0 ? policy(n) : generator(n);
      const began = performance.now();
      await writes.put(path, document);
      const write = writes.entries.get(path);
      for (const zone of this.mesh.zones.values())
        await this.reached(`write ${write} of ${path} is in ${zone.name}`, began, async () => {
          return (await shownWrite(`${zone.any(n).restUrl}${path}?zone=`)) === write;
        });
      yield;
    }
  }

  private async reached(what: string, began: number, isThere: () => Promise<boolean>): Promise<void> {
    await until(what, isThere, LONGEST);
    this.findings.took('propagation_ms', performance.now() - began);
  }
}

function isZone(name: string): name is ZoneName {
  return name !== 'global';
}

/** Whether this control plane has copies of resources that are written at `origin`. */
function hasCopies(origin: string, name: string): boolean {
  return origin === 'global' || name === 'global';
}

/** Returns the name of the zone where a resource was made, as in REST; the global has no name. */
function zoneOf(origin: string): string {
  return origin === 'global' ? '' : origin;
}

interface ServiceStatus {
  readonly vip?: object;
  readonly vips?: readonly object[];
  readonly addresses?: readonly { readonly status: string }[];
}

/** Returns the label of the newest write; `none` if there is no such resource, undefined if there is no answer. */
async function shownWrite(url: string): Promise<string | undefined> {
  try {
    const answer = await adminFetch(url);
    const document = (await answer.json()) as { labels?: Record<string, string> };
    return answer.status === 404 ? 'none' : answer.ok ? document.labels?.[WRITE] : undefined;
  } catch {
    return undefined;
  }
}

function pathOf(plural: string, name: string): string {
  return `/meshes/default/${plural}/${name}`;
}

interface PlacedDocument {
  readonly path: string;
  readonly document: Document;
}

function policy(n: number): PlacedDocument {
  const name = `written-${n % IN_TURN}`;
  const spec = { targetRefs: [{ kind: 'Mesh', name: 'default' }], request: `${60 + (n % 1_000)}s` };
  const document = { type: 'TimeoutPolicy', mesh: 'default', name, spec };
  return { path: pathOf('timeoutpolicies', name), document };
}

function generator(n: number): PlacedDocument {
  const name = `written-${n % IN_TURN}`;
  const selector = { meshService: { matchLabels: { selected: 'never' } } };
  const document = { type: 'HostnameGenerator', name, spec: { selector, template: `{{ name }}.n${n}.mesh` } };
  return { path: `/hostnamegenerators/${name}`, document };
}

function instance(name: string, service: string, n: number): Document {
  const tags = { 'kuma.io/service': service, 'kuma.io/protocol': 'tcp' };
  const address = `10.${n >> 8}.${n & 255}.${name.endsWith('a') ? 1 : 2}`;
  return { type: 'Dataplane', mesh: 'default', name, spec: { networking: { address, inbound: [{ port: 80, tags }] } } };
}
