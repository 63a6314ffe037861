import type { DataplaneResource } from '@causeway/dataplanes';
import {
  Dataplane,
  Enrolment,
  EnrolmentEpoch,
  MAX_ENROLMENT_TOKENS,
  WorkloadRevocation,
  type EnrolmentSpec,
} from '@causeway/kinds';
import {
  Conflict,
  describeIdentity,
  DomainError,
  Forbidden,
  identityKey,
  type ControlPlane,
  type Identity,
  type Resource,
} from '@causeway/resources';
import type { Clock, Logger } from '@causeway/runtime';
import { followIndex, waitUntilReached, type IndexChange, type IndexReader, type ResourceStore } from '@causeway/store';
import { BatchQueue } from './batch-queue';
import {
  enrolledDataplane,
  enrolmentEpochId,
  enrolmentId,
  findEnrolment,
  isEnrolmentInForce,
  putEnrolment,
  type EnrolmentResource,
} from './stored-enrolments';
import { listServedServices, findServicesProblem, type WorkloadBinding } from './workload-binding';

/** Verified credential that may create an enrolment. */
export interface JoiningCredential {
  /** Id of the token. */
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
  /** Returns whether Kuma-style tokens may enrol new Dataplanes of a mesh (`MeshParameters.dataplaneTokens`). */
  readonly takesKumaTokens: (mesh: string) => boolean;
  /** Maximum validity of certificates, ms. */
  readonly validity: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A machine that joins as a Dataplane. */
interface Join {
  readonly dataplane: Identity;
  readonly credential: JoiningCredential;
  readonly isOfUser: boolean;
}

/** Whether the enrolment was written, false after a concurrent write; or the refusal. */
type JoinOutcome = boolean | DomainError;

/** Enrolment of a batch. */
interface PlannedEnrolment {
  readonly dataplane: Identity;
  readonly before: EnrolmentResource | undefined;
  readonly spec: EnrolmentSpec;
}

/** Maximum number of enrolments in one write. */
const MAX_TOGETHER = 500;
/** Maximum number of tries of a write against concurrent writes. */
const MAX_TRIES = 5;

/**
 * Enrolments of machines at one replica of a zone: a machine that joins with a token is enrolled as its Dataplane, and
 * from then on has the rights of its enrolment, whatever credential it presents (docs/reference/enrolments.md).
 */
export class Enrolments {
  /** Stored Dataplanes of each group of machines, by token id. */
  private readonly groups = new Map<string, Set<string>>();
  private readonly counted = new Map<EnrolmentSpec['by'], number>();
  private readonly unsubscribe: () => void;
  /** Joins of machines: each write decides from the index that has the one before, so that groups are counted exactly. */
  private readonly joins = new BatchQueue((joins: readonly Join[]) => this.joinTogether(joins), MAX_TOGETHER);

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

  /** Returns the enrolment of a Dataplane. */
  getEnrolment(dataplane: Identity): EnrolmentResource | undefined {
    return findEnrolment(this.options.index, dataplane);
  }

  /** Returns whether enrolments are in force in the zone of a Dataplane. */
  isInForce({ zone }: Identity): boolean {
    return isEnrolmentInForce(this.options.index, zone);
  }

  /**
   * Returns the enrolment of a Dataplane whose machine presents this credential, or creates it; resolves once the index
   * has it. Undefined if enrolments are not in force yet. `isOfUser`: a user wrote the Dataplane, whose services are
   * then granted. Rejects with Forbidden, Conflict (too many machines, or writers), Unavailable.
   */
  async join(
    dataplane: Identity,
    credential: JoiningCredential,
    isOfUser: boolean,
  ): Promise<EnrolmentResource | undefined> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const before = this.getEnrolment(dataplane);
      const join = { dataplane, credential, isOfUser };
      if (this.plan(join, before, this.groupSize(credential)) === 'as before') return before;
      const outcome = await this.joins.add(join);
      if (outcome instanceof DomainError) throw outcome;
      if (outcome) return this.getEnrolment(dataplane);
    }
    throw new Conflict(`others keep writing the enrolment of Dataplane ${dataplane.name}; try again`);
  }

  /**
   * Returns the enrolment of a verified certificate; undefined if enrolments are not in force yet. `uid`: enrolment in
   * the certificate; absent in older versions, which stand for an enrolment at the upgrade. An enrolment that a
   * restored store has lost is created again for the lifetime of a certificate. Rejects with Forbidden, Unavailable.
   */
  async authoriseCertificate(dataplane: Identity, uid: string | undefined): Promise<EnrolmentResource | undefined> {
    const enrolment = this.getEnrolment(dataplane);
    if (enrolment && isSignedBy(enrolment, uid)) return enrolment;
    if (!this.isInForce(dataplane)) return undefined;
    const restored = uid === undefined || enrolment ? undefined : this.buildRestored(dataplane, uid);
    if (restored && (await this.write([{ dataplane, before: undefined, spec: restored }]))[0] === true)
      return this.getEnrolment(dataplane);
    throw new Forbidden(
      `the client certificate belongs to no current enrolment of ${describeIdentity(dataplane)}: join again with a new bundle`,
    );
  }

  /**
   * Returns the services that a Dataplane may register; undefined if not restricted. For a Dataplane that a user wrote,
   * these are its own services.
   */
  listGrantedServices(dataplane: Identity, enrolment: EnrolmentResource | undefined): readonly string[] | undefined {
    if (!enrolment) return undefined;
    const { by, services } = enrolment.spec;
    if (services !== undefined) return services;
    if (by === 'token' && this.options.takesKumaTokens(dataplane.mesh)) return undefined;
    const stored = this.options.index.get(dataplane);
    return stored && Dataplane.is(stored) ? listServedServices(stored) : [];
  }

  /** Returns the granted services. Throws Forbidden if a machine's Dataplane serves more than that. */
  checkServices(dataplane: DataplaneResource, enrolment: EnrolmentResource | undefined): readonly string[] | undefined {
    const granted = this.listGrantedServices(dataplane.id, enrolment);
    const problem = granted && findServicesProblem(granted, dataplane);
    if (problem !== undefined) throw new Forbidden(`the enrolment of ${describeIdentity(dataplane.id)} ${problem}`);
    return granted;
  }

  close(): void {
    this.unsubscribe();
  }

  /** Writes the enrolments of machines at once; a Dataplane that a machine before has taken waits for its write. */
  private async joinTogether(joins: readonly Join[]): Promise<readonly JoinOutcome[]> {
    const outcomes = joins.map((): JoinOutcome => false);
    const planned = new Map<string, PlannedEnrolment & { readonly at: number }>();
    const places = new Map<string, number>();
    for (const [at, join] of joins.entries()) {
      const { dataplane, credential } = join;
      const key = identityKey(dataplane);
      if (planned.has(key)) continue;
      const before = this.getEnrolment(dataplane);
      const taken = places.get(credential.id) ?? 0;
      try {
        const spec = this.plan(join, before, this.groupSize(credential) + taken);
        if (spec === 'as before') continue;
        planned.set(key, { dataplane, before, spec, at });
        places.set(credential.id, taken + 1);
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        outcomes[at] = error;
      }
    }
    const written = await this.write([...planned.values()]);
    for (const [i, { at }] of [...planned.values()].entries()) outcomes[at] = written[i] === true;
    return outcomes;
  }

  private groupSize({ id }: JoiningCredential): number {
    return this.groups.get(id)?.size ?? 0;
  }

  private plan(
    { dataplane, credential: { id, issuedAt, binding }, isOfUser }: Join,
    before: EnrolmentResource | undefined,
    enrolled: number,
  ): EnrolmentSpec | 'as before' {
    if (before?.spec.tokens.includes(id) === true) return 'as before';
    const revoked = this.options.index.get({ ...enrolmentId(dataplane), kind: WorkloadRevocation.name });
    if (revoked && WorkloadRevocation.is(revoked) && issuedAt < floorToSecond(revoked.spec.revokedAt))
      throw new Forbidden(
        `the dataplane token was issued before ${describeIdentity(dataplane)} was revoked: join again with a new bundle`,
      );
    const { services, machines, workload } = binding;
    if (machines !== undefined) this.checkGroup(dataplane, before, { enrolled, machines });
    if (services === undefined) {
      if (!this.acceptsKumaToken(dataplane, before, { isNamed: binding.name !== undefined, isOfUser }))
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
   * Returns whether a Kuma-style token is valid for a Dataplane: if it was enrolled at the upgrade; if it is enrolled
   * or written by a user and the token names it; or if the operator of the mesh allows it for all.
   */
  private acceptsKumaToken(
    dataplane: Identity,
    before: EnrolmentResource | undefined,
    { isNamed, isOfUser }: { readonly isNamed: boolean; readonly isOfUser: boolean },
  ): boolean {
    if (!this.isInForce(dataplane) || this.options.takesKumaTokens(dataplane.mesh)) return true;
    return isNamed ? before !== undefined || isOfUser : before?.spec.by === 'upgrade';
  }

  /** Checks that a machine of a group uses a free name, and that the group has room for it. */
  private checkGroup(
    dataplane: Identity,
    before: EnrolmentResource | undefined,
    { enrolled, machines }: { readonly enrolled: number; readonly machines: number },
  ): void {
    const { name } = dataplane;
    if (before) {
      throw new Forbidden(
        `Dataplane ${name} is enrolled by another credential; a machine of a group must take a name that is not in use`,
      );
    }
    if (this.options.index.get(dataplane))
      throw new Forbidden(`Dataplane ${name} exists already; a machine of a group must take a name that is not in use`);
    if (enrolled >= machines)
      throw new Conflict(`${enrolled} machines of this group are enrolled, its token allows ${machines} at once`);
  }

  /** Builds the enrolment that a restored store has lost, with the services that the store's Dataplane has. */
  private buildRestored(dataplane: Identity, uid: string): EnrolmentSpec | undefined {
    const { index, validity } = this.options;
    const epoch = index.get(enrolmentEpochId(dataplane.zone));
    const restoredAt = epoch && EnrolmentEpoch.is(epoch) ? epoch.spec.restoredAt : undefined;
    const revoked = index.get({ ...enrolmentId(dataplane), kind: WorkloadRevocation.name });
    const isRevoked =
      revoked && WorkloadRevocation.is(revoked) && revoked.spec.ended.some((one) => one.enrolment === uid);
    if (restoredAt === undefined || restoredAt + validity <= this.now || isRevoked) return undefined;
    // A certificate belongs to one Dataplane, whatever name its machine uses now.
    for (const other of index.ofKind(Enrolment.name))
      if (Enrolment.is(other) && isSignedBy(other, uid)) return undefined;
    const stored = index.get(dataplane);
    const services = stored && Dataplane.is(stored) ? [...listServedServices(stored)] : [];
    const formerly = { formerly: uid, confirmBefore: this.now + validity };
    return { by: 'import', services, tokens: [], issuedAt: this.now, ...formerly };
  }

  /** Returns for each enrolment whether it was written; false after a concurrent write. */
  private async write(enrolments: readonly PlannedEnrolment[]): Promise<readonly boolean[]> {
    if (enrolments.length === 0) return [];
    const { cp, store, index, clock, logger } = this.options;
    const changes = enrolments.map(({ dataplane, before, spec }) =>
      putEnrolment(dataplane, spec, { cp, expect: before?.revision ?? 'absent' }),
    );
    const hasGroup = enrolments.some(({ spec }) => spec.group !== undefined);
    const read = hasGroup ? { unchanged: { revision: index.point?.revision ?? 0, kinds: KINDS } } : {};
    const { revision, results } = await store.write({ changes, onRefusal: 'skip', ...read });
    const written = enrolments.map((_, i) => results[i]?.type === 'written');
    for (const [i, { dataplane, spec }] of enrolments.entries()) {
      if (written[i] !== true) continue;
      const { mesh, namespace, name } = dataplane;
      const { by, services = [], tokens } = spec;
      logger.info('a Dataplane was enrolled', { mesh, namespace, name, by, services, token: tokens.at(-1) ?? '' });
    }
    await waitUntilReached(index, revision, clock);
    return written;
  }

  private load(): void {
    this.groups.clear();
    this.counted.clear();
    for (const resource of this.options.index.ofKind(Enrolment.name)) {
      this.updateGroup(resource);
      this.add(resource, 1);
    }
  }

  private observe(changes: readonly IndexChange[]): void {
    for (const { id, before, after } of changes) {
      if (id.kind === 'Dataplane') {
        if ((before === undefined) === (after === undefined)) continue;
        const enrolment = this.getEnrolment(id);
        if (enrolment) this.updateGroup(enrolment);
      } else if (id.kind === Enrolment.name) {
        const group = before && Enrolment.is(before) ? before.spec.group : undefined;
        if (group !== undefined) this.groups.get(group)?.delete(identityKey(id));
        if (after) this.updateGroup(after);
        this.add(before, -1);
        this.add(after, 1);
      }
    }
  }

  /** Adds or removes a Dataplane of a group. */
  private updateGroup(resource: Resource): void {
    const group = Enrolment.is(resource) ? resource.spec.group : undefined;
    if (group === undefined) return;
    const key = identityKey(resource.id);
    const there = this.groups.get(group) ?? new Set();
    // A machine that has just enrolled and is not registered yet takes up a place too.
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

/** Returns whether a certificate with this uid belongs to an enrolment; one without is of an older version. */
function isSignedBy({ uid, spec: { by, formerly } }: EnrolmentResource, signed: string | undefined): boolean {
  return signed === undefined ? by === 'upgrade' : signed === uid || signed === formerly;
}

const KINDS = [Enrolment.name];
/** Time within which an enrolled machine registers its Dataplane, ms. */
const REGISTRATION_TIMEOUT = 60_000;

function isNew({ createdAt }: Resource, now: number): boolean {
  return now - createdAt < REGISTRATION_TIMEOUT;
}

/** Rounds down to seconds, like tokens' issue times: a token of the same second counts as new. */
function floorToSecond(time: number): number {
  return time - (time % 1_000);
}

function kumaToken({ mesh, name }: Identity, isEnrolled: boolean): string {
  const state = isEnrolled ? 'is enrolled by another credential' : 'is not enrolled';
  return `the dataplane token says nothing of services, and Dataplane ${name} ${state}: issue one with causeway tokens dataplane ${name} --mesh ${mesh} --service SERVICE (MeshParameters.dataplaneTokens: Kuma lets such tokens in)`;
}
