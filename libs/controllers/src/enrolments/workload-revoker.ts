import { enrolledDataplane, enrolmentId, findEnrolment, type EnrolmentResource } from '@causeway/identity';
import { Enrolment, MAX_ENDED_ENROLMENTS, WorkloadRevocation } from '@causeway/kinds';
import {
  compareText,
  computedLabels,
  Conflict,
  describeIdentity,
  NotFound,
  type ControlPlane,
  type Identity,
  type JsonObject,
  type Resource,
} from '@causeway/resources';
import type { Clock, Logger } from '@causeway/runtime';
import { readReportedLoss, readReportedSession } from '@causeway/sync';
import { waitUntilReached, type Change, type IndexReader, type ResourceStore } from '@causeway/store';

/** The fields of an issued token that a revocation needs. */
export interface IssuedTokenFacts {
  readonly id: string;
  /** `{mesh, namespace, name, …}`, from its claims. */
  readonly facts: JsonObject;
  readonly revoked: boolean;
}

export interface WorkloadRevokerOptions {
  readonly cp: ControlPlane;
  readonly zone: string;
  readonly index: IndexReader;
  readonly store: Pick<ResourceStore, 'write' | 'head'>;
  readonly tokens: {
    list(): Promise<readonly IssuedTokenFacts[]>;
    revoke(id: string): Promise<unknown>;
  };
  /** Reports whether this zone has a session with its global; undefined: only another replica knows. */
  readonly isConnected: () => boolean | undefined;
  /** Maximum validity of certificates, ms. */
  readonly validity: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The effects of a revocation, done or planned. */
export interface RevocationPlan {
  readonly dataplane: Identity;
  readonly services: readonly string[];
  /** The tokens with which the host could join again. */
  readonly tokens: readonly string[];
  /** Dataplanes that joined with one of these tokens: they continue, but need a new bundle if they start from scratch. */
  readonly newBundles: readonly Identity[];
  readonly otherZones: OtherZones;
  /** Zones without a session, by name, as far as the global has reported: they apply the revocation first when they reconnect. */
  readonly disconnectedZones: readonly string[];
  /** Zones of Kuma, by name: they do not know revocations and accept a certificate until it expires. */
  readonly kumaZones: readonly string[];
}

/** The way in which other zones learn of a revocation; `none`: there are no other zones. */
export type OtherZones = 'none' | 'informed' | 'cut off' | 'unknown';

/** The time for which a revocation is kept after its certificates expired, ms: clocks differ. */
const SLACK = 10 * 60_000;
const TRIES = 5;

/**
 * Ends enrolments: the only way to do so (docs/reference/enrolments.md). First revokes the tokens, then in one write deletes the enrolment and its
 * Dataplane and revokes the certificates for all zones. Idempotent.
 */
export class WorkloadRevoker {
  constructor(private readonly options: WorkloadRevokerOptions) {}

  /** Throws NotFound if nothing is enrolled under this name. */
  async plan(dataplane: Identity): Promise<RevocationPlan> {
    const { index, tokens: issued } = this.options;
    const enrolment = this.toEnrolment(dataplane);
    const tokens = new Set(enrolment.spec.tokens);
    for (const { id, facts, revoked } of await issued.list()) if (!revoked && isFor(facts, dataplane)) tokens.add(id);
    const others = [...index.ofKind(Enrolment.name)].filter(
      (other) =>
        Enrolment.is(other) &&
        other.id.mesh === dataplane.mesh &&
        other.uid !== enrolment.uid &&
        other.spec.tokens.some((token) => tokens.has(token)),
    );
    return {
      dataplane,
      tokens: [...tokens],
      services: enrolment.spec.services ?? [],
      newBundles: others.map(({ id }) => enrolledDataplane(id)).sort((a, b) => compareText(a.name, b.name)),
      otherZones: this.otherZones(),
      disconnectedZones: this.zonesWhere((one) => {
        return readReportedLoss(one) !== undefined || readReportedSession(one).disconnectedSince !== undefined;
      }),
      kumaZones: this.zonesWhere((one) => readReportedSession(one).peer === 'kuma'),
    };
  }

  /** Resolves once the revocation is in force at this replica. Throws NotFound, Conflict, Unavailable. */
  async revoke(dataplane: Identity, by: string): Promise<RevocationPlan> {
    const { logger, tokens } = this.options;
    const plan = await this.plan(dataplane);
    for (const id of plan.tokens) await tokens.revoke(id);
    for (let tries = 0; tries < TRIES; tries++) {
      if (!(await this.end(plan))) continue;
      const { mesh, namespace, name } = dataplane;
      logger.warn('a workload was revoked', { mesh, namespace, name, tokens: plan.tokens.length, by });
      return plan;
    }
    throw new Conflict(`others keep writing ${describeIdentity(dataplane)}; try again`);
  }

  /** Returns false on a conflict with a concurrent write. */
  private async end({ dataplane }: RevocationPlan): Promise<boolean> {
    const { cp, index, store, clock, validity } = this.options;
    const enrolment = this.toEnrolment(dataplane);
    const id = { ...enrolmentId(dataplane), kind: WorkloadRevocation.name };
    const now = clock.now();
    // An enrolment that came back by an import also has earlier certificates.
    const { formerly } = enrolment.spec;
    const uids = formerly === undefined ? [enrolment.uid] : [formerly, enrolment.uid];
    const ended = uids.map((uid) => ({ enrolment: uid, until: now + validity + SLACK }));
    const stored = index.get(id);
    const before = stored && WorkloadRevocation.is(stored) ? stored.spec.ended.filter(({ until }) => until > now) : [];
    const spec = { revokedAt: now, ended: [...before, ...ended].slice(-MAX_ENDED_ENROLMENTS) };
    const labels = computedLabels(WorkloadRevocation, id, cp);
    const changes: Change[] = [
      { type: 'put', id, expect: stored?.revision ?? 'absent', labels, spec },
      { type: 'delete', id: enrolment.id, expect: enrolment.revision },
      ...(index.get(dataplane) ? [{ type: 'delete', id: dataplane, expect: 'any' } as const] : []),
    ];
    const revision = await store.write({ changes, onRefusal: 'abort' }).then(
      (written) => written.revision,
      (error: unknown) => {
        if (error instanceof Conflict || error instanceof NotFound) return undefined;
        throw error;
      },
    );
    await waitUntilReached(index, revision ?? (await store.head()), clock);
    return revision !== undefined;
  }

  private otherZones(): OtherZones {
    const { cp, isConnected } = this.options;
    if (cp.role === 'zone' && !cp.federated) return 'none';
    const connected = isConnected();
    if (connected === undefined) return 'unknown';
    return connected ? 'informed' : 'cut off';
  }

  private zonesWhere(holds: (zone: Resource) => boolean): readonly string[] {
    const { index, zone: own } = this.options;
    const others = [...index.ofKind('Zone')].filter((one) => one.id.name !== own && holds(one));
    return others.map(({ id }) => id.name).sort(compareText);
  }

  private toEnrolment(dataplane: Identity): EnrolmentResource {
    const enrolment = findEnrolment(this.options.index, dataplane);
    if (enrolment) return enrolment;
    throw new NotFound(`${describeIdentity(dataplane)} is not enrolled in this zone (causeway workloads)`);
  }
}

/** Reports whether a token names this Dataplane. */
function isFor({ mesh, namespace = 'default', name }: JsonObject, of: Identity): boolean {
  return mesh === of.mesh && namespace === of.namespace && name === of.name;
}
