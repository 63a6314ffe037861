import {
  findCondition,
  identityKey,
  shortened,
  withCondition,
  withoutConditions,
  type Condition,
  type Resource,
  type ResourceKey,
} from '@causeway/resources';
import type {
  AgentFinding,
  AgentLease,
  CheckedInbound,
  IndexChange,
  PatchChange,
  SharedClients,
  UnsupportedPart,
} from '@causeway/store';
import { SAME_ID, SHARED_IDENTITY } from '../trust/shared-identity-reconciler';
import { KeyedLoop, NO_KEYS, RESCAN, type ControlLoop, type Keys } from '@causeway/loops';
import { StatusReconciler, type StatusMoment, type StatusPlan, type StatusPlanner } from '../status/status-reconciler';

/** The condition of a Dataplane whose agent checks its inbounds; absent without checks. */
const HEALTHY = 'Healthy';
/** The reason if a process can be reached without its proxy; it takes precedence over a failed check. */
const PLAINTEXT = 'PlaintextReachable';

/** The condition of a Dataplane whose proxy was sent resources that it does not support; absent if it supports all. */
const OBEYED = 'Obeyed';

/** The reason of `SharedIdentity` if the programs of a host call as another Dataplane of its agent. */
const SAME_MACHINE = 'SameMachine';

/** Maximum number of inbounds, or parts, that a condition lists; the others are counted. */
const MAX_SHOWN = 8;
const MAX_REASON_LENGTH = 200;

/** The health of Dataplanes as their agents report it, by identity key: the leases that a leader has read so far. */
export class LeaseHealth {
  private byKey = new Map<string, readonly AgentFinding[]>();
  private stale = new Set<ResourceKey>();
  private reads = 0;

  constructor(private readonly zone: string) {}

  /** The number of times that all leases were read; before the first nothing is known. */
  get wholeReads(): number {
    return this.reads;
  }

  /** Applies changed leases, or all leases; a lease may be repeated. */
  take(leases: readonly AgentLease[], isWhole: boolean): void {
    if (isWhole) {
      this.byKey = new Map();
      this.reads += 1;
    }
    for (const { mesh, namespace, name, health } of leases) {
      const key = identityKey({ kind: 'Dataplane', mesh, zone: this.zone, namespace, name });
      if (JSON.stringify(this.byKey.get(key) ?? []) === JSON.stringify(health)) continue;
      this.byKey.set(key, health);
      this.stale.add(key);
    }
  }

  of(key: string): readonly AgentFinding[] {
    return this.byKey.get(key) ?? [];
  }

  /** Returns the keys that changed since the last call. */
  takeStale(): readonly ResourceKey[] {
    const stale = [...this.stale];
    this.stale = new Set();
    return stale;
  }
}

/** Returns the patch that updates the conditions; undefined if they are up to date. */
export function planLeaseCondition(
  { id, revision, generation, status: before = {} }: Resource,
  findings: readonly AgentFinding[],
  now: number,
): PatchChange | undefined {
  const health = findings.filter((one) => 'inbound' in one);
  const unsupported = findings.filter((one) => 'what' in one);
  const client = findings.find((one) => 'clientDataplane' in one);
  // An id that another workload has too takes precedence over this reason (SharedIdentityReconciler).
  const reason = findCondition(before, SHARED_IDENTITY)?.['reason'];
  const gone = [
    ...(health.length === 0 ? [HEALTHY] : []),
    ...(unsupported.length === 0 ? [OBEYED] : []),
    ...(!client && reason === SAME_MACHINE ? [SHARED_IDENTITY] : []),
  ];
  const conditions = [
    ...(health.length === 0 ? [] : [healthyCondition(health, generation)]),
    ...(unsupported.length === 0 ? [] : [unsupportedCondition(unsupported, generation)]),
    ...(client && reason !== SAME_ID ? [sharedCondition(client, generation)] : []),
  ];
  const status = conditions.reduce((all, one) => withCondition(all, one, now), withoutConditions(before, gone));
  return status === before ? undefined : { type: 'patch', id, expect: revision, status };
}

function healthyCondition(health: readonly CheckedInbound[], observedGeneration: number): Condition {
  const down = health.filter(({ ready }) => !ready);
  const shown = (down.length > 0 ? down : health).map(({ inbound, check, reason, ready }) => {
    const what = `inbound ${inbound}: ${shortened(check === '' ? 'not checked' : check, MAX_REASON_LENGTH, '…')}`;
    return ready ? what : `${what}: ${shortened(reason === '' ? 'not ready' : reason, MAX_REASON_LENGTH, '…')}`;
  });
  const message = listed(shown);
  const failure = down.some(({ plaintextReachable }) => plaintextReachable === true) ? PLAINTEXT : 'CheckFails';
  const isUp = down.length === 0;
  return {
    type: HEALTHY,
    status: isUp ? 'True' : 'False',
    reason: isUp ? 'ChecksPass' : failure,
    message,
    observedGeneration,
  };
}

function unsupportedCondition(parts: readonly UnsupportedPart[], observedGeneration: number): Condition {
  const message = listed(parts.map(({ name, what }) => `${name}: ${shortened(what, MAX_REASON_LENGTH, '…')}`));
  return { type: OBEYED, status: 'False', reason: 'PlaneCannot', message, observedGeneration };
}

function sharedCondition({ clientDataplane }: SharedClients, observedGeneration: number): Condition {
  const message = `programs of this machine call as Dataplane ${shortened(clientDataplane, MAX_REASON_LENGTH, '…')}: callees cannot tell its workloads apart`;
  return { type: SHARED_IDENTITY, status: 'True', reason: SAME_MACHINE, message, observedGeneration };
}

function listed(all: readonly string[]): string {
  const more = all.length > MAX_SHOWN ? [`and ${all.length - MAX_SHOWN} more`] : [];
  return [...all.slice(0, MAX_SHOWN), ...more].join('; ');
}

/** Creates the loop of the conditions of agents' Dataplanes. */
export function createLeaseConditionsLoop(zone: string, health: LeaseHealth): ControlLoop {
  let wholeReads = 0;
  const takeOutside = (): readonly (ResourceKey | typeof RESCAN)[] => {
    const stale = health.takeStale();
    if (wholeReads === health.wholeReads) return stale;
    wholeReads = health.wholeReads;
    return [RESCAN];
  };
  return new KeyedLoop(new StatusReconciler({ planner: new LeaseConditionsPlanner(zone, health), takeOutside }));
}

/**
 * Plans the conditions of each Dataplane of an agent: which checks run, why it is not ready, what its proxy does not support, and as which Dataplane
 * its host calls if not as this one (docs/reference/leases.md).
 */
class LeaseConditionsPlanner implements StatusPlanner {
  readonly name = 'lease-conditions';
  readonly kinds = ['Dataplane'];

  constructor(
    private readonly zone: string,
    private readonly health: LeaseHealth,
  ) {}

  /** Until this leader has read the leases, the conditions of its predecessor stay. */
  get isReady(): boolean {
    return this.health.wholeReads > 0;
  }

  writes({ id }: Pick<Resource, 'id'>): boolean {
    return id.kind === 'Dataplane' && id.zone === this.zone;
  }

  listKeys({ id, key, after }: IndexChange): Keys {
    return after && this.writes({ id }) ? [key] : NO_KEYS;
  }

  plan(dataplane: Resource, { now }: StatusMoment): StatusPlan {
    return { change: planLeaseCondition(dataplane, this.health.of(identityKey(dataplane.id)), now) };
  }
}
