import { isDeepStrictEqual } from 'node:util';
import type { DataplaneResource } from '@causeway/dataplanes';
import { listRevokedIds } from '@causeway/identity';
import { IdentityPathState, WorkloadRevocation } from '@causeway/kinds';
import { findMtlsMode, type MeshAccess, type Meshes, type MtlsMode } from '@causeway/meshes';
import { globalIdentity, identityKey, isJsonObject, type Resource, type ResourceKey } from '@causeway/resources';
import { mayBeAnonymous, type AccessRules } from '@causeway/policies';
import type { IndexChange, IndexReader } from '@causeway/store';
import type { DestinationAccess } from '../model/destination';
import { endedEnrolments, type EndedEnrolment } from './ended-enrolments';
import type { Reads } from '../reads/recorded-reads';
import type { InboundRules } from './inbound-rules';

/** The callers that an inbound accepts: SPIFFE ids, or `anyone` with a verified identity. An empty list accepts nobody. */
export type Callers = readonly string[] | 'anyone';

/** Access to an inbound: its TLS mode and its callers. */
export interface InboundAccessConfig {
  readonly mtls: MtlsMode;
  /** The rules of AccessPolicies: a caller of `callers` must also be let pass by each of these. */
  readonly rules: readonly AccessRules[];
  readonly callers: Callers;
  /** Revoked SPIFFE ids: they are refused even where anyone else may call. */
  readonly revoked: readonly string[];
  /** Ended enrolments: their certificates are refused whatever id these carry. */
  readonly ended: readonly EndedEnrolment[];
  /** Whether the process behind the inbound relies on the header in which the proxy names the caller. */
  readonly needsClientCertHeader: boolean;
  /** The maximum age of a connection, ms. */
  readonly maxAge: number;
  /** A counter that grows when a caller loses access and no other field of the inbound shows it. */
  readonly narrowed: number;
}

/** Inputs about meshes besides the index: the readiness of the access state, and the proxies that take TLS. */
export interface AccessSource {
  readonly meshes: Pick<Meshes, 'state' | 'served'>;
  /** Reports whether a complete first state of the resources that decide about access was ever stored. */
  isReady(): boolean;
  /** Calls `listener` once that state is stored, until the returned function is called. */
  onReady(listener: () => void): () => void;
  /** Reports whether the proxy of a Dataplane, given by its identity key, has acknowledged a configuration that accepts TLS. */
  takesTls(dataplane: string): boolean;
  /** Calls `listener` with the Dataplanes for which `takesTls` may have changed, until the returned function is called. */
  onTls(listener: (dataplanes: ReadonlySet<ResourceKey>) => void): () => void;
  /**
   * Reports whether a leader of this version has recorded which Secrets were in use before the upgrade: until then those Secrets are sent as before.
   * Absent: it has.
   */
  areSecretsUpgraded?(): boolean;
}

interface InboundDecision {
  readonly access: MeshAccess;
  readonly ended: readonly EndedEnrolment[];
  readonly narrowed: number;
}

export interface AccessTableParts {
  readonly index: Pick<IndexReader, 'get' | 'ofKind'>;
  readonly source: AccessSource;
  readonly rules: Pick<InboundRules, 'of'>;
  readonly zone: string;
  readonly reads?: Reads;
}

/** Kinds whose changes may change who may call. */
const SOURCES: readonly string[] = [
  'Mesh',
  'MeshParameters',
  'ConfigMap',
  'MeshIdentity',
  WorkloadRevocation.name,
  IdentityPathState.name,
];

/**
 * Decides who may call the inbounds of each mesh. Access is `pending` while the first state is incomplete, while the Mesh is missing or belongs to
 * another controller, or while its settings cannot be read: a proxy then keeps its inbounds and gets no new ones, so missing data never opens an
 * inbound.
 */
export class AccessTable implements DestinationAccess {
  private readonly known = new Map<string, InboundDecision | 'pending'>();
  /** The last known access of each mesh that has an egress. */
  private readonly ofEgresses = new Map<string, InboundDecision>();

  constructor(private readonly parts: AccessTableParts) {}

  /** The access to one inbound of a Dataplane. */
  ofInbound(dataplane: DataplaneResource, port: number): InboundAccessConfig | 'pending' {
    const { id, labels } = dataplane;
    const decision = this.ofMesh(id.mesh);
    if (decision === 'pending') return decision;
    const { access, narrowed, ended } = decision;
    const { maxConnectionAge: maxAge, revoked, needsClientCertHeader } = access;
    const rules = this.parts.rules.of(dataplane, port, access.defaultAccess);
    if (rules === 'pending') return rules;
    const callers = rules.length > 0 ? 'anyone' : getDefaultCallers(access);
    const mtls = findMtlsMode(access, labels, port);
    return { mtls, rules, callers, revoked, ended, needsClientCertHeader, maxAge, narrowed };
  }

  /**
   * Returns who may leave a mesh through the zone's egress. While access is unknown the last known access holds, because other meshes share the
   * egress; undefined where it was never known.
   */
  ofEgress(mesh: string): Omit<InboundAccessConfig, 'mtls' | 'rules' | 'needsClientCertHeader'> | undefined {
    const decision = this.ofMesh(mesh);
    if (decision !== 'pending') this.ofEgresses.set(mesh, decision);
    const last = this.ofEgresses.get(mesh);
    if (!last) return undefined;
    const { access, narrowed, ended } = last;
    const { revoked, maxConnectionAge: maxAge } = access;
    return { callers: getDefaultCallers(access), revoked, ended, maxAge, narrowed };
  }

  /**
   * Reports whether clients of this zone speak plaintext to an inbound: it accepts nothing else, or it accepts both and its proxy has not
   * acknowledged TLS yet. While access is unknown, clients speak TLS.
   */
  isPlaintext({ id, labels }: Pick<Resource, 'id' | 'labels'>, port: number): boolean {
    const decision = this.ofMesh(id.mesh);
    const mode = decision === 'pending' ? 'Strict' : findMtlsMode(decision.access, labels, port);
    return mode === 'Off' || (mode === 'Permissive' && !this.parts.source.takesTls(identityKey(id)));
  }

  /** Reports whether an inbound passes connections without TLS to its process, even if clients with a proxy speak TLS to it. */
  takesPlaintext(dataplane: DataplaneResource, port: number): boolean {
    const { id, labels } = dataplane;
    const decision = this.ofMesh(id.mesh);
    if (decision === 'pending') return false;
    const { access } = decision;
    if (findMtlsMode(access, labels, port) === 'Strict') return false;
    const rules = this.parts.rules.of(dataplane, port, access.defaultAccess);
    if (rules === 'pending') return false;
    return rules.length > 0 ? rules.every(mayBeAnonymous) : getDefaultCallers(access) === 'anyone';
  }

  /** Reports whether inbounds of a mesh may take both TLS and plaintext. */
  isMixed(mesh: string): boolean {
    const decision = this.ofMesh(mesh);
    if (decision === 'pending') return false;
    const { mtls, overrides } = decision.access;
    return mtls === 'Permissive' || overrides.some((each) => each.mtls === 'Permissive');
  }

  /** Reports whether inbounds of a mesh may take plaintext. */
  mayBePlaintext(mesh: string): boolean {
    return this.isMixed(mesh) || this.isOff(mesh);
  }

  /** Reports whether a SPIFFE id is revoked in a mesh. */
  isRevoked(mesh: string, id: string): boolean {
    const decision = this.ofMesh(mesh);
    return decision !== 'pending' && decision.access.revoked.includes(id);
  }

  /** Reports whether a mesh uses no identities; its traffic then stays in its zone. */
  isOff(mesh: string): boolean {
    const decision = this.ofMesh(mesh);
    return decision !== 'pending' && decision.access.mtls === 'Off';
  }

  /** Returns the meshes whose access differs after these changes; without changes, all meshes that were ever read are compared. */
  stale(changes?: readonly IndexChange[]): readonly string[] {
    if (changes && !changes.some(({ id }) => SOURCES.includes(id.kind))) return [];
    return [...this.known].flatMap(([mesh, before]) => (isDeepStrictEqual(before, this.decide(mesh)) ? [] : [mesh]));
  }

  /** Returns the same meshes as `stale`, and remembers their new access. */
  refresh(changes?: readonly IndexChange[]): readonly string[] {
    const meshes = this.stale(changes);
    for (const mesh of meshes) {
      this.known.set(mesh, this.decide(mesh));
      this.parts.reads?.changed(`access ${mesh}`);
    }
    return meshes;
  }

  private ofMesh(mesh: string): InboundDecision | 'pending' {
    this.parts.reads?.read(`access ${mesh}`);
    let decision = this.known.get(mesh);
    if (decision === undefined) this.known.set(mesh, (decision = this.decide(mesh)));
    return decision;
  }

  private decide(mesh: string): InboundDecision | 'pending' {
    const access = this.parts.source.isReady() ? this.parts.source.meshes.state(mesh)?.access : undefined;
    if (!access) return 'pending';
    const narrowed = countNarrowed(this.parts.index.get(globalIdentity('Mesh', mesh)));
    const at = { mesh, zone: this.parts.zone };
    const revoked = listRevokedIds(this.parts.index, at, access.revoked);
    return { access: { ...access, revoked }, narrowed, ended: endedEnrolments(this.parts.index, at) };
  }
}

function getDefaultCallers({ defaultAccess }: MeshAccess): Callers {
  return defaultAccess === 'Allow' ? 'anyone' : [];
}

/** Returns the number of times that access to a mesh was narrowed (`status.access.narrowed`). */
function countNarrowed(mesh: Resource | undefined): number {
  const access = mesh?.status?.['access'];
  const narrowed = isJsonObject(access) ? access['narrowed'] : undefined;
  return typeof narrowed === 'number' && Number.isInteger(narrowed) && narrowed > 0 ? narrowed : 0;
}
