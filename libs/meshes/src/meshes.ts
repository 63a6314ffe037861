import { carvingFault, type RangeSetting } from '@causeway/ipam';
import { Mesh, type MeshParametersSpec } from '@causeway/kinds';
import {
  compareText,
  globalIdentity,
  namespaceLabels,
  selectsLabels,
  type Labels,
  type LabelSelector,
  type Resource,
} from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import { meshAccess, type MeshAccess } from './access';
import { isTerminating, readMemberSelector, type MeshOwner } from './membership';
import { readParameters, type MeshSpec, type ParametersResult, type ParseText } from './parameters';
import { RangeReservations } from './range-reservations';

/** The owner of a control plane without settings. */
export const DEFAULT_MESH_OWNER: MeshOwner = Object.freeze({
  controllerName: 'causeway.io/control-plane',
  expectedName: 'default',
});

/** State of a mesh at this control plane. */
export interface MeshState {
  readonly name: string;
  /** Absent for an assumed Mesh. */
  readonly resource?: Resource<MeshSpec>;
  /**
   * `ours` names our controller. `foreign` names another: its members are stored and not served (row T000-07).
   * `assumed` is the expected Mesh if it is missing or foreign: it is served with an empty spec (row T000-22).
   */
  readonly claim: 'ours' | 'foreign' | 'assumed';
  /** The settings in force; empty if there are none or if they are refused (row T000-35). */
  readonly parameters: MeshParametersSpec;
  /**
   * The callers that may access its workloads. It also applies if the settings are refused because of their address ranges. Undefined for a foreign
   * Mesh, and while the settings cannot be read: then access must not change, and above all not widen.
   */
  readonly access: MeshAccess | undefined;
  /**
   * Namespaces and kinds whose routes may be bound (T002-02); undefined allows all. It also applies if the settings are
   * refused because of their address ranges.
   */
  readonly allowedRoutes?: NonNullable<MeshParametersSpec['allowedRoutes']>;
  /** Why the parameters are refused. Services then keep the addresses they have. */
  readonly fault?: string;
  /** Whether it takes no new members (row T003-27). */
  readonly terminating: boolean;
}

/**
 * The expected Mesh belongs to another controller: it is not changed, and its members are served with an empty spec
 * (row T000-20).
 */
export interface MeshMismatch {
  readonly name: string;
  /** `controllerName` of the Mesh. */
  readonly controllerName: string;
  /** `controllerName` of this control plane. */
  readonly ownName: string;
}

/** Dependencies of the table of Meshes. */
export interface MeshesOptions {
  readonly index: Pick<IndexReader, 'get' | 'ofKind' | 'getVersion'>;
  readonly owner: MeshOwner;
  /** Reads the YAML of a ConfigMap. */
  readonly parse: ParseText;
  /** The ranges of virtual IPs of this zone; absent on the global. A mesh's ranges must fit into them or stand apart. */
  readonly zoneRanges?: ZoneRanges;
}

/** Configured ranges of virtual IPs of a zone. */
export interface ZoneRanges {
  readonly settings: readonly RangeSetting[];
  /** Whether to accept ranges that are neither private nor reserved. */
  readonly force: boolean;
}

/** Kinds that the table is derived from. */
const SOURCES = ['Mesh', 'MeshParameters', 'ConfigMap', 'Namespace'] as const;

interface Table {
  readonly version: string;
  readonly states: ReadonlyMap<string, MeshState>;
  readonly selecting: readonly { readonly mesh: string; readonly selector: LabelSelector }[];
  readonly candidates: Map<string, readonly string[]>;
}

/**
 * All Meshes from the point of view of this control plane. Reads are always current: the table is rebuilt on read if a Mesh, a referenced resource or
 * a Namespace has changed, linear in the number of Meshes.
 */
export class Meshes {
  private table: Table | undefined;

  constructor(private readonly options: MeshesOptions) {}

  get owner(): MeshOwner {
    return this.options.owner;
  }

  /** Changes whenever a result may have changed; for callers that derive something from several results. */
  get version(): string {
    return SOURCES.map((kind) => this.options.index.getVersion(kind)).join('.');
  }

  /** Returns the state of the mesh of this name; undefined if there is none. */
  state(name: string): MeshState | undefined {
    return this.current().states.get(name);
  }

  /** Reports whether documents may name this mesh: the expected one always exists, any other needs a Mesh (row T000-22). */
  exists(name: string): boolean {
    return this.state(name) !== undefined;
  }

  /** Describes why the expected Mesh is foreign; undefined if it is ours or missing. */
  mismatch(): MeshMismatch | undefined {
    const { expectedName: name, controllerName: ownName } = this.owner;
    const controllerName = this.state(name)?.resource?.spec.controllerName ?? ownName;
    return controllerName === ownName ? undefined : { name, controllerName, ownName };
  }

  /** Returns all Meshes, including the assumed one. */
  all(): Iterable<MeshState> {
    return this.current().states.values();
  }

  /** Reports whether services of this mesh get addresses, names and routes at this control plane. */
  isServed(name: string): boolean {
    const state = this.state(name);
    return state !== undefined && state.claim !== 'foreign';
  }

  /** Returns the meshes whose services are served. */
  served(): readonly MeshState[] {
    return [...this.all()].filter(({ claim }) => claim !== 'foreign');
  }

  /**
   * Returns the Meshes, sorted, whose `namespaceSelector` selects a namespace; foreign and terminating ones are left
   * out.
   */
  listCandidates(namespace: string): readonly string[] {
    const { selecting, candidates } = this.current();
    const known = candidates.get(namespace);
    if (known) return known;
    if (selecting.length === 0) return [];
    const found = this.selecting(this.getLabels(namespace));
    // Cached only for stored namespaces: users choose the names of namespaces.
    if (this.options.index.get(globalIdentity('Namespace', namespace))) candidates.set(namespace, found);
    return found;
  }

  /** Returns the Meshes, sorted, whose `namespaceSelector` selects a namespace with these labels. */
  selecting(labels: Labels): readonly string[] {
    return this.current()
      .selecting.filter(({ selector }) => selectsLabels(selector, labels))
      .map(({ mesh }) => mesh);
  }

  /** Returns the labels of a namespace for selectors, including implied ones. */
  getLabels(namespace: string): Labels {
    const stored = this.options.index.get(globalIdentity('Namespace', namespace));
    return { ...namespaceLabels(namespace), ...stored?.labels };
  }

  private current(): Table {
    const { version } = this;
    if (this.table?.version !== version) this.table = this.read(version);
    return this.table;
  }

  private read(version: string): Table {
    const { index, owner } = this.options;
    const rows = [...index.ofKind('Mesh')].filter(Mesh.is).sort(byAge);
    const reservations = new RangeReservations();
    const states = new Map(rows.map((row) => [row.id.name, this.computeState(row, reservations)]));
    const expected = states.get(owner.expectedName);
    if (!expected || expected.claim === 'foreign') {
      const name = owner.expectedName;
      states.set(name, {
        ...expected,
        name,
        claim: 'assumed',
        parameters: {},
        access: meshAccess({}),
        terminating: false,
      });
    }
    const selecting = rows.flatMap((row) => {
      const selector = readMemberSelector(row, owner);
      return selector ? [{ mesh: row.id.name, selector }] : [];
    });
    return { version, states, selecting: selecting.sort((a, b) => compareText(a.mesh, b.mesh)), candidates: new Map() };
  }

  private computeState(resource: Resource<MeshSpec>, reservations: RangeReservations): MeshState {
    const { name } = resource.id;
    const { controllerName } = this.options.owner;
    const terminating = isTerminating(resource.labels);
    // A Mesh of a Kuma peer has no controller name.
    if ((resource.spec.controllerName ?? controllerName) !== controllerName) {
      return { name, resource, claim: 'foreign', parameters: {}, access: undefined, terminating };
    }
    const { index, parse } = this.options;
    const read = readParameters(resource.spec.parametersRef, index, parse);
    const access = read.ok ? meshAccess(read.parameters) : undefined;
    const result = this.withRanges(name, read, reservations);
    const settings = result.ok ? { parameters: result.parameters } : { parameters: {}, fault: result.message };
    const allowedRoutes = read.ok ? read.parameters.allowedRoutes : undefined;
    return { name, resource, claim: 'ours', access, terminating, ...settings, ...(allowedRoutes && { allowedRoutes }) };
  }

  private withRanges(name: string, result: ParametersResult, reservations: RangeReservations): ParametersResult {
    if (!result.ok) return result;
    const ranges = result.parameters.vipRanges ?? {};
    const conflict = this.zoneFault(name, ranges) ?? reservations.reserve(name, ranges);
    return conflict === undefined ? result : { ok: false, message: conflict };
  }

  /** Returns why a mesh cannot have these ranges in this zone; other zones may accept them. */
  private zoneFault(mesh: string, ranges: Readonly<Record<string, string | undefined>>): string | undefined {
    const { settings, force } = this.options.zoneRanges ?? { settings: [], force: true };
    for (const [owner, range = ''] of Object.entries(ranges)) {
      const fault = carvingFault({ owner, range }, settings, { force });
      if (fault !== undefined) return `vipRanges of mesh "${mesh}" are not used in this zone: ${fault}`;
    }
    return undefined;
  }
}

/**
 * Orders the older first: of two Meshes with one range, the older keeps its settings. Resources made by Kuma rank last,
 * by name.
 */
function byAge(a: Resource, b: Resource): number {
  const [first, second] = [a.creationOrder || Infinity, b.creationOrder || Infinity];
  return first === second ? compareText(a.id.name, b.id.name) : first - second;
}
