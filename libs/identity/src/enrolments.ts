import type { DataplaneResource } from '@causeway/dataplanes';
import {
  Dataplane,
  Enrolment,
  ENROLMENT_EPOCH,
  EnrolmentEpoch,
  MAX_ENROLMENT_TOKENS,
  WorkloadRevocation,
  type EnrolmentSpec,
} from '@causeway/kinds';
import {
  computedLabels,
  Conflict,
  describeIdentity,
  Forbidden,
  identityKey,
  type ControlPlane,
  type Identity,
  type JsonObject,
  type Resource,
} from '@causeway/resources';
import type { Clock, Logger } from '@causeway/runtime';
import {
  followIndex,
  waitUntilReached,
  type IndexChange,
  type IndexReader,
  type PutChange,
  type ResourceStore,
} from '@causeway/store';
import { listServedServices, servicesProblem, type WorkloadBinding } from './workload-binding';

/** An enrolment as it is stored. */
export type EnrolmentResource = Resource<EnrolmentSpec>;

/** A verified credential, as an enrolment is made by it. */
export interface JoiningCredential {
  /** The id of the token. */
  readonly id: string;
  /** ms since 1970. */
  readonly issuedAt: number;
  readonly binding: WorkloadBinding;
}

/** Dependencies of `Enrolments`. */
export interface EnrolmentsOptions {
  readonly cp: ControlPlane;
  readonly index: IndexReader;
  readonly store: Pick<ResourceStore, 'write'>;
  /** Whether tokens of Kuma's form let new Dataplanes of a mesh in (`MeshParameters.dataplaneTokens`). */
  readonly takesKumaTokens: (mesh: string) => boolean;
  /** Maximum validity of certificates, ms. */
  readonly validity: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Maximum number of tries of a write of an enrolment against concurrent writes. */
const TRIES = 5;

/** The identity of the enrolment of a Dataplane. */
export function enrolmentId({ mesh, zone, namespace, name }: Identity): Identity {
  return { kind: Enrolment.name, mesh, zone, namespace, name };
}

/** The Dataplane of an enrolment. */
export function enrolledDataplane({ mesh, zone, namespace, name }: Identity): Identity {
  return { kind: 'Dataplane', mesh, zone, namespace, name };
}

/** The enrolment of a Dataplane as the index has it. */
export function findEnrolment(index: Pick<IndexReader, 'get'>, dataplane: Identity): EnrolmentResource | undefined {
  const found = index.get(enrolmentId(dataplane));
  return found && Enrolment.is(found) ? found : undefined;
}

/**
 * Whether a zone goes by enrolments. It does not while replicas of an older version, which make none, may be there
 * (`EnrolmentAdoption`).
 */
export function isEnrolmentInForce(index: Pick<IndexReader, 'get'>, zone: string): boolean {
  return index.get(enrolmentEpochId(zone)) !== undefined;
}

/** The identity of the epoch of a zone. */
export function enrolmentEpochId(zone: string): Identity {
  return { kind: EnrolmentEpoch.name, mesh: '', zone, namespace: '', name: ENROLMENT_EPOCH };
}

/**
 * Enrolments of machines, as the replicas of a zone create and read them: a machine that joins with a token is enrolled
 * as its Dataplane, and from then on has the rights of its enrolment, whatever credential it presents
 * (docs/reference/enrolments.md).
 */
export class Enrolments {
  /** Stored Dataplanes of each group of machines, by the id of its token. */
  private readonly groups = new Map<string, Set<string>>();
  private readonly counted = new Map<EnrolmentSpec['by'], number>();
  private readonly unsubscribe: () => void;

  constructor(private readonly options: EnrolmentsOptions) {
    this.load();
    this.unsubscribe = followIndex(options.index, {
      reload: () => this.load(),
      apply: (changes) => this.observe(changes),
    });
  }

  /** Number of enrolments by origin. */
  get counts(): ReadonlyMap<EnrolmentSpec['by'], number> {
    return this.counted;
  }

  /** The enrolment of a Dataplane. */
  of(dataplane: Identity): EnrolmentResource | undefined {
    return findEnrolment(this.options.index, dataplane);
  }

  /** Whether the zone of a Dataplane goes by enrolments. */
  isInForce({ zone }: Identity): boolean {
    return isEnrolmentInForce(this.options.index, zone);
  }

  /**
   * The enrolment of a Dataplane whose machine shows this credential, made where there is none and the credential may make one; resolves
   * once the index has it. Undefined where the zone does not go by enrolments yet. `isOfUser`: a user has written the Dataplane, so its
   * services are granted by that. Rejects with Forbidden, Conflict (too many machines at once, or writers), Unavailable.
   */
  async join(
    dataplane: Identity,
    credential: JoiningCredential,
    isOfUser: boolean,
  ): Promise<EnrolmentResource | undefined> {
    for (let tries = 0; tries < TRIES; tries++) {
      const before = this.of(dataplane);
      const spec = this.plan(dataplane, before, credential, isOfUser);
      if (spec === 'as before') return before;
      if (await this.write(dataplane, before, spec)) return this.of(dataplane);
    }
    throw new Conflict(`others keep writing the enrolment of Dataplane ${dataplane.name}; try again`);
  }

  /**
   * The enrolment that a verified certificate was signed by; undefined where the zone does not go by enrolments yet. `uid`: that in the
   * certificate; one of an older version has none, and counts for what was enrolled at the upgrade. A store that was restored may have
   * lost the enrolment: it comes back for one life of a certificate. Rejects with Forbidden, Unavailable.
   */
  async certified(dataplane: Identity, uid: string | undefined): Promise<EnrolmentResource | undefined> {
    const enrolment = this.of(dataplane);
    if (enrolment && isSignedBy(enrolment, uid)) return enrolment;
    if (!this.isInForce(dataplane)) return undefined;
    const restored = uid === undefined || enrolment ? undefined : this.restored(dataplane, uid);
    if (restored && (await this.write(dataplane, undefined, restored))) return this.of(dataplane);
    throw new Forbidden(
      `the client certificate is of no enrolment of ${describeIdentity(dataplane)} that stands: it joins again with a new bundle`,
    );
  }

  /**
   * The services that a Dataplane may be registered with; undefined where nothing restricts them. Of an enrolment of a Dataplane that a
   * user has written these are the ones that it was written with.
   */
  granted(dataplane: Identity, enrolment: EnrolmentResource | undefined): readonly string[] | undefined {
    if (!enrolment) return undefined;
    const { by, services } = enrolment.spec;
    if (services !== undefined) return services;
    if (by === 'token' && this.options.takesKumaTokens(dataplane.mesh)) return undefined;
    const stored = this.options.index.get(dataplane);
    return stored && Dataplane.is(stored) ? listServedServices(stored) : [];
  }

  /** Throws Forbidden where a Dataplane that its machine registers serves more than its enrolment grants. Returns what is granted. */
  checkServices(dataplane: DataplaneResource, enrolment: EnrolmentResource | undefined): readonly string[] | undefined {
    const granted = this.granted(dataplane.id, enrolment);
    const problem = granted && servicesProblem(granted, dataplane);
    if (problem !== undefined) throw new Forbidden(`the enrolment of ${describeIdentity(dataplane.id)} ${problem}`);
    return granted;
  }

  close(): void {
    this.unsubscribe();
  }

  private plan(
    dataplane: Identity,
    before: EnrolmentResource | undefined,
    { id, issuedAt, binding }: JoiningCredential,
    isOfUser: boolean,
  ): EnrolmentSpec | 'as before' {
    if (before?.spec.tokens.includes(id) === true) return 'as before';
    const revoked = this.options.index.get({ ...enrolmentId(dataplane), kind: WorkloadRevocation.name });
    if (revoked && WorkloadRevocation.is(revoked) && issuedAt < wholeSecond(revoked.spec.revokedAt))
      throw new Forbidden(
        `the dataplane token was issued before ${describeIdentity(dataplane)} was revoked: it joins again with a new bundle`,
      );
    const { services, machines, workload } = binding;
    if (machines !== undefined) this.checkGroup(dataplane, before, id, machines);
    if (services === undefined) {
      if (!this.mayKumaToken(dataplane, before, { isNamed: binding.name !== undefined, isOfUser }))
        throw new Forbidden(kumaToken(dataplane, before !== undefined));
      if (before || !this.isInForce(dataplane)) return 'as before';
    } else if (before && issuedAt < before.spec.issuedAt) return 'as before';
    return {
      by: isOfUser ? 'dataplane' : 'token',
      ...(services !== undefined && !isOfUser && { services: [...services] }),
      ...(workload !== undefined && { workload }),
      tokens: [...(before?.spec.tokens ?? []), id].slice(-MAX_ENROLMENT_TOKENS),
      issuedAt,
      ...(machines !== undefined && { group: id }),
    };
  }

  /**
   * Whether a token in Kuma's form is valid for a Dataplane: for one enrolled at the upgrade, for one that is enrolled
   * or written by a user if the token names exactly it, and for all if the operator of the mesh allows it.
   */
  private mayKumaToken(
    dataplane: Identity,
    before: EnrolmentResource | undefined,
    { isNamed, isOfUser }: { readonly isNamed: boolean; readonly isOfUser: boolean },
  ): boolean {
    if (!this.isInForce(dataplane) || this.options.takesKumaTokens(dataplane.mesh)) return true;
    return isNamed ? before !== undefined || isOfUser : before?.spec.by === 'upgrade';
  }

  /** Checks that a machine of a group takes a free name, and that the group has room for it. */
  private checkGroup(
    dataplane: Identity,
    before: EnrolmentResource | undefined,
    token: string,
    machines: number,
  ): void {
    const { name } = dataplane;
    if (before) {
      throw new Forbidden(
        `Dataplane ${name} is enrolled by another credential; machines of a group take names that nobody has`,
      );
    }
    if (this.options.index.get(dataplane))
      throw new Forbidden(`Dataplane ${name} is there already; machines of a group take names that nobody has`);
    const there = this.groups.get(token)?.size ?? 0;
    if (there >= machines)
      throw new Conflict(`${there} machines of this group are there, its token is for ${machines} at once`);
  }

  /**
   * Returns the enrolment that is created for one that a restored store lacks: the services that the Dataplane has in
   * it.
   */
  private restored(dataplane: Identity, uid: string): EnrolmentSpec | undefined {
    const { index, validity } = this.options;
    const epoch = index.get(enrolmentEpochId(dataplane.zone));
    const restoredAt = epoch && EnrolmentEpoch.is(epoch) ? epoch.spec.restoredAt : undefined;
    const revoked = index.get({ ...enrolmentId(dataplane), kind: WorkloadRevocation.name });
    const isRevoked =
      revoked && WorkloadRevocation.is(revoked) && revoked.spec.ended.some((one) => one.enrolment === uid);
    if (restoredAt === undefined || restoredAt + validity <= this.now || isRevoked) return undefined;
    // A certificate is that of one Dataplane, also of one that takes another name now.
    for (const other of index.ofKind(Enrolment.name))
      if (Enrolment.is(other) && isSignedBy(other, uid)) return undefined;
    const stored = index.get(dataplane);
    const services = stored && Dataplane.is(stored) ? [...listServedServices(stored)] : [];
    const formerly = { formerly: uid, confirmBefore: this.now + validity };
    return { by: 'import', services, tokens: [], issuedAt: this.now, ...formerly };
  }

  private async write(
    dataplane: Identity,
    before: EnrolmentResource | undefined,
    spec: EnrolmentSpec,
  ): Promise<boolean> {
    const { cp, store, index, clock, logger } = this.options;
    const change = putEnrolment(dataplane, spec, { cp, expect: before?.revision ?? 'absent' });
    const read = spec.group === undefined ? {} : { unchanged: { revision: index.point?.revision ?? 0, kinds: KINDS } };
    const { revision, results } = await store.write({ changes: [change], onRefusal: 'skip', ...read });
    const isWritten = results[0]?.type === 'written';
    if (isWritten) {
      const { mesh, namespace, name } = dataplane;
      const { by, services = [], tokens } = spec;
      logger.info('a Dataplane was enrolled', { mesh, namespace, name, by, services, token: tokens.at(-1) ?? '' });
    }
    await waitUntilReached(index, revision, clock);
    return isWritten;
  }

  private load(): void {
    this.groups.clear();
    this.counted.clear();
    for (const resource of this.options.index.ofKind(Enrolment.name)) {
      this.count(resource);
      this.add(resource, 1);
    }
  }

  private observe(changes: readonly IndexChange[]): void {
    for (const { id, before, after } of changes) {
      if (id.kind === 'Dataplane') {
        if ((before === undefined) === (after === undefined)) continue;
        const enrolment = this.of(id);
        if (enrolment) this.count(enrolment);
      } else if (id.kind === Enrolment.name) {
        const group = before && Enrolment.is(before) ? before.spec.group : undefined;
        if (group !== undefined) this.groups.get(group)?.delete(identityKey(id));
        if (after) this.count(after);
        this.add(before, -1);
        this.add(after, 1);
      }
    }
  }

  /** Takes a Dataplane of a group as there or not. */
  private count(resource: Resource): void {
    const group = Enrolment.is(resource) ? resource.spec.group : undefined;
    if (group === undefined) return;
    const key = identityKey(resource.id);
    const there = this.groups.get(group) ?? new Set();
    // One that was enrolled a moment ago and is not registered yet has its place too.
    const isThere = this.options.index.get(enrolledDataplane(resource.id)) !== undefined || isNew(resource, this.now);
    if (isThere) there.add(key);
    else there.delete(key);
    if (there.size === 0) this.groups.delete(group);
    else this.groups.set(group, there);
  }

  private add(resource: Resource | undefined, step: 1 | -1): void {
    if (!resource || !Enrolment.is(resource)) return;
    const { by: grantor } = resource.spec;
    this.counted.set(grantor, (this.counted.get(grantor) ?? 0) + step);
  }

  private get now(): number {
    return this.options.clock.now();
  }
}

/** Whether a certificate with this uid is of an enrolment; one without is of an older version. */
function isSignedBy({ uid, spec: { by, formerly } }: EnrolmentResource, signed: string | undefined): boolean {
  return signed === undefined ? by === 'upgrade' : signed === uid || signed === formerly;
}

const KINDS = [Enrolment.name];
/** A machine that has enrolled registers its Dataplane within this time, ms. */
const REGISTERED_WITHIN = 60_000;

function isNew({ createdAt }: Resource, now: number): boolean {
  return now - createdAt < REGISTERED_WITHIN;
}

/** Tokens say when they were issued in whole seconds: one of the same second is a new one, since those of before are revoked by their id. */
function wholeSecond(time: number): number {
  return time - (time % 1_000);
}

function kumaToken({ mesh, name }: Identity, isEnrolled: boolean): string {
  const state = isEnrolled ? 'is enrolled by another credential' : 'is not enrolled';
  return `the dataplane token says nothing of services, and Dataplane ${name} ${state}: issue one with causeway tokens dataplane ${name} --mesh ${mesh} --service SERVICE (MeshParameters.dataplaneTokens: Kuma lets such tokens in)`;
}

/** The change that stores an enrolment. */
export function putEnrolment(
  dataplane: Identity,
  spec: EnrolmentSpec,
  { cp, expect }: { readonly cp: ControlPlane; readonly expect: number | 'absent' },
): PutChange {
  const id = enrolmentId(dataplane);
  return { type: 'put', id, expect, labels: computedLabels(Enrolment, id, cp), spec: asJson(spec) };
}

function asJson({ services, tokens, ...rest }: EnrolmentSpec): JsonObject {
  return { ...rest, tokens: [...tokens], ...(services && { services: [...services] }) };
}

/** The credential that a machine goes on with which joined before its zone went by enrolments. */
export interface OldCredential {
  /** The services that it is still good for; nothing new is. */
  readonly services: readonly string[];
  /** The command that makes the bundle which takes its place. */
  readonly command: string;
}

/**
 * Finds what the machine of an enrolment still shows from before enrolments; undefined where it has joined with a newer credential, or where a
 * user has written the Dataplane, whose machine was never granted services.
 */
export function oldCredential({ id, spec }: EnrolmentResource): OldCredential | undefined {
  const { by, services } = spec;
  if (by !== 'upgrade' || services === undefined) return undefined;
  const { mesh, namespace, name } = id;
  const place = `--mesh ${mesh}${namespace === 'default' ? '' : ` --namespace ${namespace}`}`;
  const granted = services.length === 0 ? '--no-service' : `--service ${services.join(',')}`;
  return { services, command: `causeway tokens dataplane ${name} ${place} ${granted} --bundle` };
}
