import { MeshService } from '@causeway/kinds';
import type { Meshes } from '@causeway/meshes';
import { policyKeysOn, evaluatePolicy, type PolicyEvaluation } from '@causeway/policies';
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
  type ResourceKey,
} from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import type { ApplyProgress, ProgressSource } from '../progress/apply-progress';
import { KeyedLoop, NO_KEYS, type ControlLoop, type Keys } from '@causeway/loops';
import {
  StatusReconciler,
  type ReportTimes,
  type StatusMoment,
  type StatusPlan,
  type StatusPlanner,
} from '../status/status-reconciler';
import type { KumaPolicies } from './kuma-policies';
import { notTranslatedCondition } from './not-translated-condition';
import { planPolicyStatus } from './plan-policy-status';
import { PolicyCounts } from './policy-counts';
import {
  policyConditions,
  computeRank,
  writtenRank,
  type Enforcement,
  type PolicyConditions,
} from './policy-conditions';
import { policyRequirement, type PolicyRequirement } from './policy-requirement';
import { keysOfPolicies, type PolicyChangeSource } from './reported-policies';
import { StatusMessageLimit } from './status-message-limit';

/** The time in which zones learn of a change of another resource that brought a policy into force, ms: the policy's own revision does not show it. */
const ZONE_DELAY = 10_000;

export interface PolicyStatusOptions {
  readonly cp: ControlPlane;
  readonly meshes: Pick<Meshes, 'owner'>;
  /** The table must follow the index before the loop does. */
  readonly policies: PolicyChangeSource;
  /** Returns a currently known kind: a policy whose kind has changed and now refuses it is not accepted. */
  readonly findKind: (name: string) => Kind | undefined;
  /** Without it, it is unknown which proxies have applied policies. */
  readonly progress?: ProgressSource;
  /** Reports the policies that are translated for zones of Kuma. Without it policies have no such condition. */
  readonly kuma?: KumaPolicies;
  /** `zones`: the time in which zones learn of a change, ms. */
  readonly patience?: ReportTimes & { readonly zones?: number };
}

/** Evaluation of a policy, kept until a change affects it. */
interface Evaluated {
  readonly evaluation: PolicyEvaluation;
  /** Undefined for kinds that are not sent to proxies. */
  readonly requirement: PolicyRequirement | undefined;
}

/**
 * Plans the status of the policies that were made on this control plane: which targets accept them, how much of them is in force, and whether proxies
 * apply them (docs/reference/policy-status.md).
 */
class PolicyStatusPlanner implements StatusPlanner {
  readonly name = 'policies';
  /** By the current reason of the condition `Enforced`; the written one may be older. */
  readonly counts = new PolicyCounts();
  private readonly evaluated = new Map<ResourceKey, Evaluated>();
  private readonly messages = new StatusMessageLimit();

  constructor(private readonly options: PolicyStatusOptions) {}

  get kinds(): readonly string[] {
    return [...this.options.policies.table.definitions].map(({ kind }) => kind);
  }

  writes(resource: Resource): boolean {
    const { policies, cp } = this.options;
    return policies.table.kind(resource.id.kind) !== undefined && isMadeHere(resource, cp);
  }

  /** Lists policies whose status another writer changed. */
  listKeys({ id, key, before, after }: IndexChange): Keys {
    if (!this.options.policies.table.kind(id.kind)) return NO_KEYS;
    return jsonEqual(before?.status, after?.status) ? NO_KEYS : [key];
  }

  /** Lists policies on a service whose ports may have another protocol. */
  affectedBy({ id, before, after }: IndexChange): Iterable<ResourceKey> {
    if (MeshService.name !== id.kind || jsonEqual(before?.spec['ports'], after?.spec['ports'])) return NO_KEYS;
    return policyKeysOn(this.options.policies.table, id);
  }

  forget(key: ResourceKey): void {
    this.evaluated.delete(key);
  }

  remove(key: ResourceKey): void {
    this.counts.set(key, undefined);
    this.options.progress?.unsupported.forget(key);
  }

  clear(): void {
    this.evaluated.clear();
    this.counts.clear();
  }

  plan(resource: Resource, moment: StatusMoment): StatusPlan {
    const { now, index } = moment;
    const key = identityKey(resource.id);
    const evaluated = this.evaluated.get(key) ?? this.evaluate(key, resource, index);
    if (!evaluated) return { change: undefined };
    this.evaluated.set(key, evaluated);
    const { conditions, ...rest } = this.listConditions(evaluated, resource, moment);
    const { meshes, progress, kuma } = this.options;
    const { controllerName } = meshes.owner;
    const unsupportedByKuma = notTranslatedCondition(resource, progress, kuma);
    const wanted = { evaluation: evaluated.evaluation, conditions, unsupportedByKuma };
    const change = planPolicyStatus(resource, wanted, { controllerName, now });
    const dueAt = change && this.messages.dueAt(key, resource.status, change.status, now);
    return dueAt === undefined ? { ...rest, change } : { ...rest, change: undefined, dueAt };
  }

  private evaluate(key: ResourceKey, { id, spec }: Resource, index: IndexReader): Evaluated | undefined {
    const { policies, findKind } = this.options;
    const kind = policies.table.kind(id.kind);
    const evaluation = kind && evaluatePolicy(kind, key);
    if (!evaluation) return undefined;
    // The definition of its kind may have changed since the policy was written.
    const [first]: readonly (Violation | undefined)[] =
      findKind(id.kind)?.check(spec, FieldPath.at('spec')).first ?? [];
    const violation = evaluation.policy.violation ?? first;
    return {
      evaluation: violation ? { ...evaluation, policy: { ...evaluation.policy, violation } } : evaluation,
      requirement: policyRequirement(kind, key, index),
    };
  }

  /** Returns the conditions to write, without those that stay. */
  private listConditions(
    { evaluation, requirement }: Evaluated,
    resource: Resource,
    moment: StatusMoment,
  ): Pick<StatusPlan, 'isPending' | 'isReport'> & { readonly conditions: readonly Condition[] } {
    const { generation } = resource;
    const { progress: source } = this.options;
    const wait = moment.wait();
    if (!requirement) return this.counted(resource, policyConditions(evaluation, 'nobody', generation));
    source?.unsupported.watch(resource, requirement);
    const progress = source?.of({ resource, ...requirement, since: wait.since });
    const isEarly = this.isEarly(progress, evaluation, resource, moment.now - wait.from);
    const enforcement: Enforcement = progress && !isEarly ? { progress, ...requirement } : undefined;
    const found = this.counted(resource, policyConditions(evaluation, enforcement, generation));
    if (!found.isPending) return found;
    const isKept = !wait.mayReport && this.mayStay(evaluation, resource, progress);
    return { conditions: isKept ? found.conditions.slice(0, 1) : found.conditions, isPending: true, isReport: !isKept };
  }

  /** Reports whether the written status may stay: it claims no more than what is in force, and no further proxy is known to lack features. */
  private mayStay(
    evaluation: PolicyEvaluation,
    { status, generation }: Resource,
    progress: ApplyProgress | undefined,
  ): boolean {
    const written = writtenRank(status);
    const isNewlyUnsupported = (progress?.unsupported.total ?? 0) > 0 && !isUnsupportedWritten(status, generation);
    return written !== undefined && written <= computeRank(evaluation) && !isNewlyUnsupported;
  }

  private counted({ id }: Resource, found: PolicyConditions): PolicyConditions {
    const reason = found.conditions.find(({ type }) => type === 'Enforced')?.['reason'];
    this.counts.set(identityKey(id), typeof reason === 'string' ? reason : undefined);
    return found;
  }

  /** Reports whether zones may not know of a change yet that brought the policy into force: they report the policy's own revision only. */
  private isEarly(
    progress: ApplyProgress | undefined,
    evaluation: PolicyEvaluation,
    { generation, status }: Resource,
    waited: number,
  ): boolean {
    if (progress?.zones === undefined || waited >= (this.options.patience?.zones ?? ZONE_DELAY)) return false;
    const written = writtenRank(status);
    return written !== undefined && written < computeRank(evaluation) && isWrittenOf(status, generation);
  }
}

/** Reports whether the status already states for this generation that some proxy does not support it. */
function isUnsupportedWritten(status: Resource['status'], generation: number): boolean {
  const written = findCondition(status, 'Enforced');
  return written?.['reason'] === 'NotSupported' && written['observedGeneration'] === generation;
}

function isWrittenOf(status: Resource['status'], generation: number): boolean {
  return findCondition(status, 'Enforced')?.['observedGeneration'] === generation;
}

/** The status loop of policies, with counters. */
class PolicyStatusLoop extends KeyedLoop {
  constructor(
    reconciler: StatusReconciler,
    private readonly planner: PolicyStatusPlanner,
    term: { readonly signal: AbortSignal },
  ) {
    super(reconciler, term);
  }

  get counts(): ReadonlyMap<string, number> {
    return this.planner.counts.byReason;
  }
}

/**
 * Creates the status loop of policies for one term, which ends with `signal`. A change costs the policies whose scopes it changes; nothing is written
 * to the targets.
 */
export function createPolicyStatusLoop(
  options: PolicyStatusOptions,
  term: { readonly signal: AbortSignal },
): KeyedLoop {
  const { policies, progress, kuma, patience: reportTimes } = options;
  const planner = new PolicyStatusPlanner(options);
  const unsupported = progress?.unsupported;
  const sources = [keysOfPolicies(policies)];
  const reconciler = new StatusReconciler({ planner, sources, progress, unsupported, kuma, reportTimes });
  return new PolicyStatusLoop(reconciler, planner, term);
}

/** Returns the number of policies made on this control plane, by the reason of their condition `Enforced`. */
export function policyCounts(loops: readonly ControlLoop[]): ReadonlyMap<string, number> {
  return loops.find((loop) => loop instanceof PolicyStatusLoop)?.counts ?? new Map();
}
