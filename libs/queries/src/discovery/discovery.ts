import { createHash } from 'node:crypto';
import { toAccessTarget, type CallerRights } from '@causeway/access';
import type { Meshes } from '@causeway/meshes';
import { FieldPath, NotFound, ownZone, type ControlPlane, type Identity } from '@causeway/resources';
import { inSlices } from '@causeway/runtime';
import type { IndexReader } from '@causeway/store';
import type { ConcurrencyLimit } from '../concurrency-limit';
import { InvalidQuery } from '../errors';
import type { ReadYourWrites } from '../list/read-your-writes';
import { requireMesh } from '../list/resource-queries';
import { hostLines } from './host-lines';
import {
  agentTarget,
  serviceTargets,
  type InstanceSource,
  type PrometheusTarget,
  type TargetSelection,
} from './prometheus-targets';

/** A document for programs outside the mesh. Equal tags mean equal bodies. */
export interface DiscoveryDocument {
  readonly body: string;
  readonly etag: string;
  readonly revision: number;
}

export interface DiscoverySources {
  readonly cp: ControlPlane;
  readonly index: IndexReader;
  readonly meshes: Pick<Meshes, 'exists'>;
  readonly readYourWrites: ReadYourWrites;
  readonly expensive: ConcurrencyLimit;
  readonly instances: InstanceSource | undefined;
}

/**
 * Maximum number of targets or lines of one document, and of characters. Above it the caller must narrow the request.
 */
const MAX_ENTRIES = 50_000;
const MAX_CHARACTERS = 32 * 1024 * 1024;
/** Maximum number of cached documents. */
const MAX_CACHED = 8;
/** Number of services processed in one slice. */
const SLICE = 200;

const KINDS = ['MeshService', 'Dataplane'] as const;

/**
 * Discovery for programs without a proxy (docs/guides/without-proxy.md). A document in which the caller may see
 * everything is cached until the store has another revision.
 */
export class Discovery {
  private readonly remembered = new Map<string, DiscoveryDocument>();

  constructor(private readonly sources: DiscoverySources) {}

  /**
   * Returns targets for Prometheus in the format of `http_sd`: an entry for each instance of this zone that the caller may list, ready or not.
   * Throws NotFound outside a zone and for an unknown mesh, AccessDenied for a mesh that the request names, InvalidQuery if there are too many.
   */
  async prometheus(
    selection: TargetSelection,
    rights: CallerRights,
    minRevision: number | undefined,
    signal: AbortSignal,
  ): Promise<DiscoveryDocument> {
    const { instances, index, expensive } = this.sources;
    if (!instances) throw new NotFound('This control plane knows no instances; ask that of a zone.');
    await this.begin(selection.mesh, minRevision);
    const { mesh, namespace } = selection;
    if (mesh !== undefined) for (const kind of KINDS) rights.check('list', { kind, mesh, namespace });
    const maySeeAll = KINDS.every((kind) => rights.may('list', { kind, mesh, namespace }));
    const key = `prometheus ${JSON.stringify(selection)}`;
    return this.document(maySeeAll ? key : undefined, () =>
      expensive.run(async (running) => {
        const entries = new Entries(', ');
        const may = (id: Identity): boolean => maySeeAll || rights.may('list', toAccessTarget(id));
        const take = (targets: Iterable<PrometheusTarget>): void => {
          for (const target of targets) entries.add(JSON.stringify(target));
        };
        const isWanted = (id: Identity): boolean =>
          id.zone === ownZone(this.sources.cp) &&
          (mesh === undefined || id.mesh === mesh) &&
          (namespace === undefined || id.namespace === namespace) &&
          may(id) &&
          may({ ...id, kind: 'Dataplane' });
        const steps = function* (): Generator<void> {
          for (const { id } of index.ofKind('MeshService')) {
            if (isWanted(id) && (selection.service ?? id.name) === id.name)
              take(serviceTargets(id, instances.instancesOf(id), selection.port));
            yield;
          }
          for (const dataplane of index.ofKind('Dataplane')) {
            if (isWanted(dataplane.id)) take(agentTarget(dataplane, selection));
            yield;
          }
        };
        await inSlices(steps(), running, SLICE);
        return `[${entries.text()}]`;
      }, signal),
    );
  }

  /**
   * The hostnames of a mesh and the virtual IPs of their services, in the form of /etc/hosts. Throws NotFound outside a zone and for an
   * unknown mesh, AccessDenied for callers who may not list all its services, InvalidQuery where there are too many.
   */
  async hosts(
    mesh: string,
    rights: CallerRights,
    minRevision: number | undefined,
    signal: AbortSignal,
  ): Promise<DiscoveryDocument> {
    const { cp, index, expensive } = this.sources;
    const zone = ownZone(cp);
    for (const kind of SERVICE_KINDS) rights.check('list', { kind, mesh });
    if (zone === '') throw new NotFound('Each zone has its own virtual IPs; ask that of a zone.');
    await this.begin(mesh, minRevision);
    return this.document(`hosts ${mesh}`, () =>
      expensive.run(async (running) => {
        const lines = new Entries('\n');
        const steps = function* (): Generator<void> {
          for (const kind of SERVICE_KINDS)
            for (const service of index.ofKind(kind)) {
              if (service.id.mesh === mesh) for (const line of hostLines(service)) lines.add(line);
              yield;
            }
        };
        await inSlices(steps(), running);
        return `# Services of mesh ${mesh} in zone ${zone}\n${lines.text()}${lines.count === 0 ? '' : '\n'}`;
      }, signal),
    );
  }

  private async begin(mesh: string | undefined, minRevision: number | undefined): Promise<void> {
    const { readYourWrites, meshes } = this.sources;
    await readYourWrites.wait(minRevision);
    if (mesh !== undefined) requireMesh(meshes, mesh);
  }

  /** `key`: the cache key; undefined for a document of which the caller sees only a part. */
  private async document(key: string | undefined, make: () => Promise<string>): Promise<DiscoveryDocument> {
    const revision = this.sources.readYourWrites.revision();
    const known = key === undefined ? undefined : this.remembered.get(key);
    if (known?.revision === revision) return known;
    const body = await make();
    const etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 32)}"`;
    const made = { body, etag, revision };
    if (key !== undefined) this.remember(key, made);
    return made;
  }

  private remember(key: string, made: DiscoveryDocument): void {
    this.remembered.delete(key);
    this.remembered.set(key, made);
    const [oldest] = this.remembered.keys();
    if (this.remembered.size > MAX_CACHED && oldest !== undefined) this.remembered.delete(oldest);
  }
}

const SERVICE_KINDS = ['MeshService', 'MeshMultiZoneService', 'MeshExternalService'] as const;

/** The entries of a document, sorted by text, so that equal content has equal text. */
class Entries {
  private readonly entries: string[] = [];
  private characters = 0;

  constructor(private readonly separator: string) {}

  get count(): number {
    return this.entries.length;
  }

  /** Throws InvalidQuery above the bounds. */
  add(entry: string): void {
    this.entries.push(entry);
    this.characters += entry.length;
    if (this.entries.length <= MAX_ENTRIES && this.characters <= MAX_CHARACTERS) return;
    const reason = `more than ${MAX_ENTRIES} entries or ${MAX_CHARACTERS / 1024 / 1024} MiB: ask for fewer services`;
    throw new InvalidQuery(`This document would have ${reason}.`, [
      FieldPath.at('mesh').violation(reason, 'too-large'),
    ]);
  }

  text(): string {
    return this.entries.sort().join(this.separator);
  }
}
