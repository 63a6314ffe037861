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

/** A token that was issued, as far as a revocation needs it. */
export interface IssuedTokenFacts {
  readonly id: string;
  /** `{mesh, namespace, name, …}`, as its claims say. */
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
  /** Whether this zone has a session with its global; undefined: another replica knows. */
  readonly isConnected: () => boolean | undefined;
  /** How long certificates live at most, ms. */
  readonly validity: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Effects of a revocation, done or planned. */
export interface RevocationPlan {
  readonly dataplane: Identity;
  readonly services: readonly string[];
  /** The tokens that it could join with again. */
  readonly tokens: readonly string[];
  /** Dataplanes that joined with one of these tokens: they go on, and need a new bundle where they begin from nothing. */
  readonly newBundles: readonly Identity[];
  readonly otherZones: OtherZones;
  /** Zones without a session, by name, as far as the global has said: they act on it first thing when they are back. */
  readonly disconnectedZones: readonly string[];
  /** Zones of Kuma, by name: they have no such thing, and believe a certificate until it ends. */
  readonly kumaZones: readonly string[];
}

/** How other zones hear of a revocation; `none`: there are no others. */
export type OtherZones = 'none' | 'informed' | 'cut off' | 'unknown';

/** How much longer than its certificates a revocation is kept, ms: clocks differ. */
const SLACK = 10 * 60_000;
const TRIES = 5;

/**
 * Ends enrolments: the one way to do so (docs/reference/enrolments.md). Its tokens go first, then in one write the enrolment, its Dataplane
 * and, for all zones, its certificates. Twice does what once does.
 */
export class WorkloadRevoker {
  constructor(private readonly options: WorkloadRevokerOptions) {}

  /** Throws NotFound where nothing of this name is enrolled. */
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

  /** Resolves once it is in force at this replica. Throws NotFound, Conflict, Unavailable. */
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

  /** False where others wrote at the same time. */
  private async end({ dataplane }: RevocationPlan): Promise<boolean> {
    const { cp, index, store, clock, validity } = this.options;
    const enrolment = this.toEnrolment(dataplane);
    const id = { ...enrolmentId(dataplane), kind: WorkloadRevocation.name };
    const now = clock.now();
    // One that came back after an import has certificates of before, too.
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

/** Whether a token names this Dataplane. */
function isFor({ mesh, namespace = 'default', name }: JsonObject, of: Identity): boolean {
  return mesh === of.mesh && namespace === of.namespace && name === of.name;
}
