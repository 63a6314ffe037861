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

/** Access of an inbound: how it listens, and for whom. */
export interface InboundAccessConfig {
  readonly mtls: MtlsMode;
  /** Of AccessPolicies: of those that `callers` says, those that all of these let pass. */
  readonly rules: readonly AccessRules[];
  readonly callers: Callers;
  /** SPIFFE ids that may not call whoever else may. */
  readonly revoked: readonly string[];
  /** Machines whose certificates are believed no longer, whatever id they have. */
  readonly ended: readonly EndedEnrolment[];
  /** Whether its process relies on the header by which its proxy says who called. */
  readonly needsClientCertHeader: boolean;
  /** After how long it closes a connection, ms. */
  readonly maxAge: number;
  /** Grows when a caller loses access in a way that nothing else of the inbound shows. */
  readonly narrowed: number;
}

/** Inputs about meshes besides the index: whose they are, who may call whom. */
export interface AccessSource {
  readonly meshes: Pick<Meshes, 'state' | 'served'>;
  /** False until a complete first state of what decides about access was stored once. */
  isReady(): boolean;
  /** Calls `listener` when it is stored, until the returned function is called. */
  onReady(listener: () => void): () => void;
  /** Whether the proxy of a Dataplane, given by its identity key, has acknowledged that it takes TLS. */
  takesTls(dataplane: string): boolean;
  /** Calls `listener` with the Dataplanes whose answer may differ, until the returned function is called. */
  onTls(listener: (dataplanes: ReadonlySet<ResourceKey>) => void): () => void;
  /**
   * Whether a leader of this version has written down which Secrets were in use before it: until then those are given as before. Absent:
   * it has.
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

/** Kinds of which a change may change who may call. */
const SOURCES: readonly string[] = [
  'Mesh',
  'MeshParameters',
  'ConfigMap',
  'MeshIdentity',
  WorkloadRevocation.name,
  IdentityPathState.name,
];

/**
 * Who may call the inbounds of each mesh. While a first state is not complete, the Mesh is missing or somebody else's, or its
 * settings cannot be read, access is `pending`: a proxy keeps the inbounds that it has and gets no new ones, so nothing is ever
 * open because something is missing.
 */
export class AccessTable implements DestinationAccess {
  private readonly known = new Map<string, InboundDecision | 'pending'>();
  /** Of each mesh that has an egress, what was last known. */
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
   * Who may leave a mesh through the zone's egress. While access is not known it is as it was before, for other meshes leave there
   * too; undefined where it never was known.
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
   * Whether clients of this zone speak plaintext to an inbound: it takes nothing else, or it takes both and its proxy has not
   * acknowledged TLS yet. While access is not known they speak TLS.
   */
  isPlaintext({ id, labels }: Pick<Resource, 'id' | 'labels'>, port: number): boolean {
    const decision = this.ofMesh(id.mesh);
    const mode = decision === 'pending' ? 'Strict' : findMtlsMode(decision.access, labels, port);
    return mode === 'Off' || (mode === 'Permissive' && !this.parts.source.takesTls(identityKey(id)));
  }

  /** Whether an inbound leads connections without TLS to its process, also where clients with a proxy speak TLS to it. */
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

  /** Whether inbounds of a mesh may take both TLS and plaintext. */
  isMixed(mesh: string): boolean {
    const decision = this.ofMesh(mesh);
    if (decision === 'pending') return false;
    const { mtls, overrides } = decision.access;
    return mtls === 'Permissive' || overrides.some((each) => each.mtls === 'Permissive');
  }

  /** Whether inbounds of a mesh may take plaintext. */
  mayBePlaintext(mesh: string): boolean {
    return this.isMixed(mesh) || this.isOff(mesh);
  }

  /** Whether nobody of this SPIFFE id is believed in a mesh any more. */
  isRevoked(mesh: string, id: string): boolean {
    const decision = this.ofMesh(mesh);
    return decision !== 'pending' && decision.access.revoked.includes(id);
  }

  /** Whether a mesh has no identities in use: its traffic stays in its zone. */
  isOff(mesh: string): boolean {
    const decision = this.ofMesh(mesh);
    return decision !== 'pending' && decision.access.mtls === 'Off';
  }

  /** The meshes whose access differs after these changes; all that were asked for are looked at without them. */
  stale(changes?: readonly IndexChange[]): readonly string[] {
    if (changes && !changes.some(({ id }) => SOURCES.includes(id.kind))) return [];
    return [...this.known].flatMap(([mesh, before]) => (isDeepStrictEqual(before, this.decide(mesh)) ? [] : [mesh]));
  }

  /** The same, and from now on they count as known. */
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

/** Returns how often access to a mesh was narrowed (`status.access.narrowed`). */
function countNarrowed(mesh: Resource | undefined): number {
  const access = mesh?.status?.['access'];
  const narrowed = isJsonObject(access) ? access['narrowed'] : undefined;
  return typeof narrowed === 'number' && Number.isInteger(narrowed) && narrowed > 0 ? narrowed : 0;
}
