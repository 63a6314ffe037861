import {
  conditionOf,
  identityKey,
  shortened,
  withCondition,
  withoutConditions,
  type Condition,
  type Resource,
} from '@causeway/resources';
import type {
  AgentFinding,
  AgentLease,
  CheckedInbound,
  IndexChange,
  IndexReader,
  PatchChange,
  SharedClients,
  UnobeyedPart,
} from '@causeway/store';
import {
  type ControlLoop,
  KeyedLoop,
  NO_KEYS,
  RESCAN,
  type KeyedReconciler,
  type Keys,
  type ReconcileResult,
} from '@causeway/loops';
import { SAME_ID, SHARED_IDENTITY } from '../trust/shared-identity-reconciler';

/** The condition of a Dataplane whose agent checks its inbounds; absent where nothing is checked. */
const HEALTHY = 'Healthy';
/** Its reason where a process can be reached without its proxy; it stands over a check that fails. */
const PLAINTEXT = 'PlaintextReachable';

/** The condition of a Dataplane whose proxy is told what it cannot do; absent where it does all. */
const OBEYED = 'Obeyed';

/** The reason of `SharedIdentity` where the programs of a machine call as another Dataplane of its agent. */
const SAME_MACHINE = 'SameMachine';

/** Inbounds, or parts, that a condition spells out; the others are counted. */
const MOST_SHOWN = 8;
const LONGEST_REASON = 200;

/** What agents have said of the health of their Dataplanes, by identity key; what a leader has read so far. */
export class LeaseHealth {
  private byKey = new Map<string, readonly AgentFinding[]>();
  private stale = new Set<string>();
  private reads = 0;

  constructor(private readonly zone: string) {}

  /** How often all leases were read; nothing is known before the first time. */
  get wholeReads(): number {
    return this.reads;
  }

  /** Takes leases that have changed, or all; the same lease may come again. */
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

  /** The keys that have changed since the call before. */
  takeStale(): readonly string[] {
    const stale = [...this.stale];
    this.stale = new Set();
    return stale;
  }
}

/** The patch that brings the conditions up to date; undefined where they are. */
export function planLeaseCondition(
  { id, revision, generation, status: before = {} }: Resource,
  findings: readonly AgentFinding[],
  now: number,
): PatchChange | undefined {
  const health = findings.filter((one) => 'inbound' in one);
  const unobeyed = findings.filter((one) => 'what' in one);
  const client = findings.find((one) => 'clientDataplane' in one);
  // The id that another workload has too stands over the clients (SharedIdentityReconciler).
  const reason = conditionOf(before, SHARED_IDENTITY)?.['reason'];
  const gone = [
    ...(health.length === 0 ? [HEALTHY] : []),
    ...(unobeyed.length === 0 ? [OBEYED] : []),
    ...(!client && reason === SAME_MACHINE ? [SHARED_IDENTITY] : []),
  ];
  const conditions = [
    ...(health.length === 0 ? [] : [healthyCondition(health, generation)]),
    ...(unobeyed.length === 0 ? [] : [obeyedCondition(unobeyed, generation)]),
    ...(client && reason !== SAME_ID ? [sharedCondition(client, generation)] : []),
  ];
  const status = conditions.reduce((all, one) => withCondition(all, one, now), withoutConditions(before, gone));
  return status === before ? undefined : { type: 'patch', id, expect: revision, status };
}

function healthyCondition(health: readonly CheckedInbound[], observedGeneration: number): Condition {
  const down = health.filter(({ ready }) => !ready);
  const shown = (down.length > 0 ? down : health).map(({ inbound, check, reason, ready }) => {
    const what = `inbound ${inbound}: ${shortened(check === '' ? 'not checked' : check, LONGEST_REASON, '…')}`;
    return ready ? what : `${what}: ${shortened(reason === '' ? 'not ready' : reason, LONGEST_REASON, '…')}`;
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

function obeyedCondition(parts: readonly UnobeyedPart[], observedGeneration: number): Condition {
  const message = listed(parts.map(({ name, what }) => `${name}: ${shortened(what, LONGEST_REASON, '…')}`));
  return { type: OBEYED, status: 'False', reason: 'PlaneCannot', message, observedGeneration };
}

function sharedCondition({ clientDataplane }: SharedClients, observedGeneration: number): Condition {
  const message = `programs of this machine call as Dataplane ${shortened(clientDataplane, LONGEST_REASON, '…')}: callees cannot tell its workloads apart`;
  return { type: SHARED_IDENTITY, status: 'True', reason: SAME_MACHINE, message, observedGeneration };
}

function listed(all: readonly string[]): string {
  const more = all.length > MOST_SHOWN ? [`and ${all.length - MOST_SHOWN} more`] : [];
  return [...all.slice(0, MOST_SHOWN), ...more].join('; ');
}

/** The loop that says at each Dataplane of an agent what is checked. */
export function createLeaseConditionsLoop(zone: string, health: LeaseHealth): ControlLoop {
  return new KeyedLoop(new LeaseConditionsReconciler(zone, health));
}

/**
 * Says at each Dataplane of an agent what is checked, why it is not ready, what its proxy
 * cannot do, and as whom its machine calls where not as it (docs/reference/leases.md).
 */
class LeaseConditionsReconciler implements KeyedReconciler {
  readonly name = 'lease-conditions';
  readonly looksOutside = true;
  private wholeReads = 0;

  constructor(
    private readonly zone: string,
    private readonly health: LeaseHealth,
  ) {}

  *seed(index: IndexReader): Iterable<Keys> {
    for (const { id } of index.ofKind('Dataplane')) yield id.zone === this.zone ? [identityKey(id)] : NO_KEYS;
  }

  keysOf({ id, key, after }: IndexChange): Keys {
    return id.kind === 'Dataplane' && id.zone === this.zone && after ? [key] : NO_KEYS;
  }

  outsideKeys(): readonly (string | typeof RESCAN)[] {
    const stale = this.health.takeStale();
    if (this.wholeReads === this.health.wholeReads) return stale;
    this.wholeReads = this.health.wholeReads;
    return [RESCAN];
  }

  reconcile(key: string, index: IndexReader, now: number): ReconcileResult | undefined {
    const dataplane = index.byIdentityKey(key);
    const health = this.health.of(key);
    // Until this leader has read the lease, what the one before has written stays.
    if (!dataplane || this.health.wholeReads === 0) return undefined;
    return { change: planLeaseCondition(dataplane, health, now) };
  }
}
