import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../support/until';
import { AnsweredWrites, LONGEST, WRITE, type Document } from './answered-writes';
import type { Findings } from './findings';
import { ZONES, type MixedMesh, type ZoneName } from './mixed-mesh';
import type { ReplicatedPlane } from './replicated-plane';

/** Between two rounds of a writer, ms. */
const PACE = 200;
/** Resources that the writer at the global changes in turn. */
const IN_TURN = 20;
/** At once. */
const PARALLEL = 20;

/** Writers that go on until they are stopped: one at each zone, one at the global; each waits until its write has reached the others. */
export class TrafficOfWrites {
  private readonly writers = new Map<string, AnsweredWrites>();
  private readonly running: readonly Promise<void>[];
  private isOver = false;

  constructor(
    private readonly mesh: MixedMesh,
    private readonly findings: Findings,
  ) {
    for (const plane of mesh.planes) this.writers.set(plane.name, new AnsweredWrites(plane, findings));
    this.running = [...ZONES.map((zone) => this.run(zone, this.inZone(zone))), this.run('global', this.atGlobal())];
  }

  /** Resolves when every writer has done its round and nothing is under way. */
  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.running);
  }

  /** Waits until every replica of every control plane has what was answered, or a later write; what does not come is lost. */
  async check(): Promise<void> {
    for (const [name, writes] of this.writers) {
      const own = this.mesh.planes.filter((plane) => plane.name === name || this.copies(name, plane));
      for (const plane of own) await this.checkPlane(plane, name, writes);
    }
  }

  /** Whether this control plane has copies of what is written at `origin`. */
  private copies(origin: string, plane: ReplicatedPlane): boolean {
    return origin === 'global' || plane.name === 'global';
  }

  private async checkPlane(plane: ReplicatedPlane, origin: string, writes: AnsweredWrites): Promise<void> {
    const paths = [...writes.entries.keys()];
    for (const { plane: replica, version } of plane.ready)
      for (let n = 0; n < paths.length; n += PARALLEL)
        await Promise.all(
          paths.slice(n, n + PARALLEL).map(async (path) => {
            const place = `${path}?zone=${zoneOf(origin)}`;
            // Writers go on meanwhile: what was answered is looked up anew with each look.
            const isThere = async (): Promise<boolean> => {
              const want = writes.entries.get(path);
              const shown = await shownWrite(`${replica.restUrl}${place}`);
              return want === undefined ? shown === 'none' : Number(shown) >= Number(want);
            };
            await until(place, isThere, LONGEST).catch(() => {
              const write = writes.entries.get(path) ?? 'deleted';
              this.findings.broken(`lost at ${plane.name} (${version.label}): write ${write} of ${place}`);
            });
            this.findings.count('writes_checked');
          }),
        );
  }

  private async run(name: string, round: AsyncGenerator<void, void, void>): Promise<void> {
    try {
      while (!this.isOver && (await round.next()).done !== true) await pause(PACE);
    } catch (error) {
      this.findings.broken(`the writer at ${name} has ended: ${String(error)}`);
    }
  }

  /** New services with two instances; of earlier ones an instance is changed, and one is taken away. */
  private async *inZone(zone: ZoneName): AsyncGenerator<void, void, void> {
    const writes = this.writesOf(zone);
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
  private async *atGlobal(): AsyncGenerator<void, void, void> {
    const writes = this.writesOf('global');
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

  private writesOf(name: string): AnsweredWrites {
    const writes = this.writers.get(name);
    if (!writes) throw new Error(`nobody writes at ${name}`);
    return writes;
  }
}

/** How REST names where a resource was made; the global has no name. */
function zoneOf(origin: string): string {
  return origin === 'global' ? '' : origin;
}

interface ServiceStatus {
  readonly vip?: object;
  readonly vips?: readonly object[];
  readonly addresses?: readonly { readonly status: string }[];
}

/** The label of the newest write; `none` where there is no such resource, undefined where nobody says. */
async function shownWrite(url: string): Promise<string | undefined> {
  try {
    const answer = await fetch(url);
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
