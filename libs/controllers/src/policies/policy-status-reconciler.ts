import { MeshService } from '@causeway/kinds';
import type { Meshes } from '@causeway/meshes';
import {
  policyKeysOn,
  evaluatePolicy,
  type KindTable,
  type PolicyChangeSet,
  type PolicyTable,
  type PolicyEvaluation,
} from '@causeway/policies';
import {
  findCondition,
  FieldPath,
  identityKey,
  isMadeHere,
  jsonEqual,
  type Condition,
  type ControlPlane,
  type Kind,
  type Resource,
  type Violation,
} from '@causeway/resources';
import { onAbort } from '@causeway/runtime';
import type { IndexChange, IndexReader } from '@causeway/store';
import { Movement, type ProgressSource, type ResourceProgress } from '../progress/progress';
import {
  KeyedLoop,
  NO_KEYS,
  RESCAN,
  type KeyedReconciler,
  type Keys,
  type ReconcileResult,
  type ControlLoop,
} from '@causeway/loops';
import { NotTranslatedCondition } from './not-translated-condition';
import type { KumaPolicies } from './kuma-policies';
import { planPolicyStatus } from './plan-policy-status';
import { PolicyCounts } from './policy-counts';
import { policyConditions, rankOf, writtenRank, type Enforcement, type Judged } from './policy-conditions';
import { policyDemand, type PolicyDemand } from './policy-progress';
import { StatusMessageLimit } from './status-message-limit';

/** How often it is looked whether all have applied a policy, ms: more and more seldom. */
const LOOK_AGAIN = 1_000;
const LOOK_SELDOM = 30_000;
/** Who is waited for is said after so long, and then so often, ms: each time is a write. */
const PATIENCE = 10_000;
const SAY_EVERY = 10_000;
/** Zones learn in this time what came into force by a change of another resource than the policy, ms: no revision of its own tells it. */
const ZONES_LEARN = 10_000;

/** The policies of a process: the table, and what changes touch in it. */
export interface PolicySource {
  readonly table: PolicyTable;
  readonly hasLoaded: boolean;
  subscribe(listener: (change: PolicyChangeSet | 'reloaded') => void): () => void;
}

export interface PolicyStatusOptions {
  readonly cp: ControlPlane;
  readonly meshes: Pick<Meshes, 'owner'>;
  /** It follows the index since before the loop did. */
  readonly policies: PolicySource;
  /** The kinds that are known now: a policy that its kind refuses since that was changed is not accepted. */
  readonly kindOf: (name: string) => Kind | undefined;
  /** Without it nothing is known of who has applied policies. */
  readonly progress?: ProgressSource;
  /** Which policies zones of Kuma are told. Without it nothing is said of them. */
  readonly kuma?: KumaPolicies;
  /** How long nobody is said to be waited for, how often it is said then, and how long zones take to learn what changed, ms. */
  readonly patience?: { readonly first: number; readonly then: number; readonly zones?: number };
}

/** What is remembered of a policy until something changes what becomes of it. */
interface Known {
  readonly verdict: PolicyEvaluation;
  /** Undefined for kinds that no proxy is told of. */
  readonly demand: PolicyDemand | undefined;
  /** The revision with which it came into force as it is, at the latest; and when that was seen, ms. */
  readonly since: number;
  readonly from: number;
  saidAt: number;
}

/**
 * Writes the status of the policies that were made on this control plane: which targets took them, how much of them holds where, and
 * whether proxies obey (docs/reference/policy-status.md). A change costs the policies whose scopes it touches; nothing is written
 * to what they affect.
 */
class PolicyStatusReconciler implements KeyedReconciler {
  readonly name = 'policies';
  readonly looksOutside = true;
  private moved = new Set<string>();
  private isReloaded = false;
  /** By the reason of the condition `Enforced`, as it is now: what is written may wait. */
  readonly counts = new PolicyCounts();
  private readonly known = new Map<string, Known>();
  /** Keys of those that not all are known to have applied. */
  private readonly waiting = new Set<string>();
  private readonly messages = new StatusMessageLimit();
  private readonly movement: Movement;
  private readonly untold: NotTranslatedCondition;
  private index: IndexReader | undefined;

  constructor(private readonly options: PolicyStatusOptions) {
    this.movement = new Movement(options.progress);
    this.untold = new NotTranslatedCondition(options.progress, options.kuma);
  }

  /** Takes note of what changes touch until the returned function is called. */
  follow(): () => void {
    return this.options.policies.subscribe((change) => {
      if (change === 'reloaded') this.isReloaded = true;
      else for (const key of change.policies) this.move(key);
    });
  }

  *seed(index: IndexReader): Iterable<Keys> {
    this.index = index;
    this.waiting.clear();
    this.known.clear();
    this.counts.clear();
    for (const { kind } of [...this.options.policies.table.definitions])
      for (const resource of index.ofKind(kind))
        yield isMadeHere(resource, this.options.cp) ? [identityKey(resource.id)] : NO_KEYS;
  }

  /**
   * A status that another writer has changed is looked at, and so are policies on a service whose ports may carry something else; other
   * changes are seen by what they touch in the table.
   */
  keysOf({ id, key, before, after }: IndexChange): Keys {
    if (MeshService.name === id.kind && !jsonEqual(before?.spec['ports'], after?.spec['ports'])) {
      for (const named of policyKeysOn(this.options.policies.table, id)) this.move(named);
    }
    if (!this.options.policies.table.kind(id.kind)) return NO_KEYS;
    return jsonEqual(before?.status, after?.status) ? NO_KEYS : [key];
  }

  derivedKeys(): Keys {
    const { moved } = this;
    if (moved.size === 0) return NO_KEYS;
    this.moved = new Set();
    return [...moved];
  }

  outsideKeys(): readonly (string | typeof RESCAN)[] {
    const { isReloaded } = this;
    this.isReloaded = false;
    const untold = this.untold.stale();
    if (isReloaded) return [RESCAN];
    if (!this.movement.hasMoved()) return untold;
    return [...untold, ...this.waiting, ...(this.options.progress?.refusals.take() ?? [])];
  }

  reconcile(key: string, index: IndexReader, now: number): ReconcileResult | undefined {
    const { cp, policies, meshes, progress } = this.options;
    const resource = index.byIdentityKey(key);
    const kind = resource && policies.table.kind(resource.id.kind);
    if (!resource || !kind) {
      this.forget(key);
      this.counts.set(key, undefined);
      progress?.refusals.forget(key);
      return undefined;
    }
    // What is not loaded yet is looked at when it is.
    if (!isMadeHere(resource, cp) || !policies.hasLoaded) return undefined;
    const known = this.known.get(key) ?? this.read(kind, resource, index, now);
    if (!known) return undefined;
    this.known.set(key, known);
    const { conditions, dueAt } = this.judge(known, resource, now);
    const { controllerName } = meshes.owner;
    const wanted = { verdict: known.verdict, conditions, untold: this.untold.of(resource) };
    const change = planPolicyStatus(resource, wanted, { controllerName, now });
    const later = change && this.messages.dueAt(key, resource.status, change.status, now);
    return later === undefined ? { change, dueAt } : { change: undefined, dueAt: Math.min(later, dueAt ?? later) };
  }

  private read(kind: KindTable, resource: Resource, index: IndexReader, now: number): Known | undefined {
    const key = identityKey(resource.id);
    const found = evaluatePolicy(kind, key);
    if (!found) return undefined;
    const demand = policyDemand(kind, key, index);
    const verdict = this.withRefusal(found, resource);
    return { verdict, demand, since: this.index?.point?.revision ?? 0, from: now, saidAt: -Infinity };
  }

  /** The definition of its kind may have changed since the policy was written. */
  private withRefusal(verdict: PolicyEvaluation, { id, spec }: Resource): PolicyEvaluation {
    const [first]: readonly (Violation | undefined)[] =
      this.options.kindOf(id.kind)?.check(spec, FieldPath.at('spec')).first ?? [];
    const violation = verdict.policy.violation ?? first;
    return violation ? { ...verdict, policy: { ...verdict.policy, violation } } : verdict;
  }

  /** The conditions that are to be written, without those that stay; and when to look again. */
  private judge(
    known: Known,
    resource: Resource,
    now: number,
  ): { readonly conditions: readonly Condition[]; readonly dueAt?: number | undefined } {
    const { verdict, demand, from } = known;
    const { generation, status } = resource;
    const key = identityKey(resource.id);
    const { patience = { first: PATIENCE, then: SAY_EVERY }, progress: source } = this.options;
    if (!demand) return this.counted(key, policyConditions(verdict, 'nobody', generation));
    source?.refusals.watch({ resource, ...demand });
    const progress = source?.of({ resource, ...demand, since: known.since });
    const isEarly = this.isEarly(progress, verdict, resource, now - from);
    const enforcement: Enforcement = progress && !isEarly ? { progress, ...demand } : undefined;
    const { conditions, isPending } = this.counted(key, policyConditions(verdict, enforcement, generation));
    if (!isPending) {
      this.waiting.delete(key);
      return { conditions };
    }
    this.waiting.add(key);
    const written = writtenRank(status);
    const isPatient = now - from < patience.first || now - known.saidAt < patience.then;
    const isNewRefusal = (progress?.unable.total ?? 0) > 0 && !isRefusalWritten(status, generation);
    // What is written stays as long as it says no more than what the policies leave.
    const isKept = isPatient && written !== undefined && written <= rankOf(verdict) && !isNewRefusal;
    if (!isKept) known.saidAt = now;
    const pause = Math.min(Math.max(LOOK_AGAIN, (now - from) / 4), LOOK_SELDOM);
    return { conditions: isKept ? conditions.slice(0, 1) : conditions, dueAt: now + pause };
  }

  private counted(key: string, judged: Judged): Judged {
    const reason = judged.conditions.find(({ type }) => type === 'Enforced')?.['reason'];
    this.counts.set(key, typeof reason === 'string' ? reason : undefined);
    return judged;
  }

  /** Zones tell of a policy's own revision only: what came into force by another change they have to learn first. */
  private isEarly(
    known: ResourceProgress | undefined,
    verdict: PolicyEvaluation,
    { generation, status }: Resource,
    waited: number,
  ): boolean {
    if (known?.zones === undefined || waited >= (this.options.patience?.zones ?? ZONES_LEARN)) return false;
    const written = writtenRank(status);
    return written !== undefined && written < rankOf(verdict) && isWrittenOf(status, generation);
  }

  private move(key: string): void {
    this.moved.add(key);
    this.forget(key);
  }

  private forget(key: string): void {
    this.known.delete(key);
    this.waiting.delete(key);
  }
}

/** It is said already of this generation that somebody cannot obey it. */
function isRefusalWritten(status: Resource['status'], generation: number): boolean {
  const written = findCondition(status, 'Enforced');
  return written?.['reason'] === 'NotSupported' && written['observedGeneration'] === generation;
}

function isWrittenOf(status: Resource['status'], generation: number): boolean {
  return findCondition(status, 'Enforced')?.['observedGeneration'] === generation;
}

/** The loop of a `PolicyStatusReconciler`, which counts. */
class PolicyStatusLoop extends KeyedLoop {
  constructor(private readonly status: PolicyStatusReconciler) {
    super(status);
  }

  get counts(): ReadonlyMap<string, number> {
    return this.status.counts.byReason;
  }
}

/** The status of policies as a control loop for one term, which ends with `signal`. */
export function createPolicyStatusLoop(
  options: PolicyStatusOptions,
  { signal }: { readonly signal: AbortSignal },
): KeyedLoop {
  const reconciler = new PolicyStatusReconciler(options);
  onAbort(signal, reconciler.follow());
  return new PolicyStatusLoop(reconciler);
}

/** How many of the policies that were made on this control plane stand how, by the reason of their condition `Enforced`. */
export function policyCounts(loops: readonly ControlLoop[]): ReadonlyMap<string, number> {
  return loops.find((loop) => loop instanceof PolicyStatusLoop)?.counts ?? new Map();
}
