import { MAX_SCOPES, type PolicyEvaluation, type ScopeResult } from '@causeway/policies';
import { isJsonArray, isJsonObject, type Condition, type JsonObject } from '@causeway/resources';
import type { ApplyProgress } from '../progress/apply-progress';
import { formatAllUnsupported, formatApplied } from '../progress/progress-text';
import type { PolicyRequirement, TcpTargets } from './policy-requirement';

/** The proxies that have applied a policy; `nobody` for kinds that are not sent to proxies, undefined while unknown. */
export type Enforcement =
  | 'nobody'
  | undefined
  | ({ readonly progress: ApplyProgress } & Pick<PolicyRequirement, 'describeLack' | 'appliesNothing' | 'tcpTargets'>);

/** The conditions of a policy, and whether they are final. */
export interface PolicyConditions {
  readonly conditions: readonly Condition[];
  /** Whether some proxies have yet to apply it, or it is unknown which have. */
  readonly isPending: boolean;
}

/** The condition types of each policy; at most one of the last three is True (T004-49). */
const policyConditionTypes = ['Accepted', 'Enforced', 'PartiallyEnforced', 'Overridden'] as const;
type Type = (typeof policyConditionTypes)[number];

/** The reason and the message of a condition. */
type ConditionReason = Readonly<Record<'reason' | 'message', string>>;

const DECIDED = 'computed from the policies alone: this kind is sent to no proxy';

/** Returns the conditions of a policy (T004-44 to -50). */
export function policyConditions(
  evaluation: PolicyEvaluation,
  enforcement: Enforcement,
  generation: number,
): PolicyConditions {
  const { policy, scopes } = evaluation;
  const refusal = findRefusal(evaluation);
  if (refusal) return done(all(refusal, generation));
  const accepted = { reason: 'Accepted', message: describeTargets(evaluation) };
  const of = (type: Type | 'Unknown' | undefined, reason: string, message: string): Condition[] =>
    conditions({ accepted, type, reason, message, generation });
  const rank = computeRank(evaluation);
  const summary = describe(evaluation);
  if (scopes.total === 0)
    return done(
      of(
        undefined,
        'NoEffectiveTargets',
        `${policy.strategy}: its targets contain nothing to which the policy applies`,
      ),
    );
  if (rank === 0) return done(of('Overridden', 'Overridden', summary));
  const final = rank === 2 ? 'Enforced' : 'PartiallyEnforced';
  if (enforcement === 'nobody') return done(of(final, final, `${summary}; ${DECIDED}`));
  const pending = (type: Type | 'Unknown' | undefined, reason: string, message: string): PolicyConditions => ({
    conditions: of(type, reason, `${summary}; ${message}`),
    isPending: true,
  });
  if (!enforcement) return pending('Unknown', 'Pending', 'it is not known yet who has applied it');
  const { progress, describeLack, appliesNothing, tcpTargets: tcp } = enforcement;
  if (tcp) return done(of(tcp.isAll ? undefined : 'PartiallyEnforced', 'NotSupported', describeTcp(summary, tcp)));
  const { proxies, unsupported, zones, silentZones: silent = [], isPartial = false } = progress;
  const applied = formatApplied(progress);
  const lacks = proxies.acked < proxies.total || (zones !== undefined && zones.acked < zones.total);
  if (unsupported.total > 0) {
    const { counts } = unsupported;
    const message = `${applied}; ${formatAllUnsupported(unsupported)} cannot apply all of it: ${describeLack(counts)}`;
    const isNone = proxies.acked === 0 && !isPartial && appliesNothing(counts);
    return { ...pending(isNone ? undefined : 'PartiallyEnforced', 'NotSupported', message), isPending: lacks };
  }
  if (silent.length > 0)
    return pending('Unknown', 'NotReported', `${applied}; not known until it is reported by ${listed(silent)}`);
  if (lacks) return pending(proxies.acked > 0 ? 'PartiallyEnforced' : undefined, 'Pending', applied);
  if (proxies.total === 0 && !isPartial)
    return pending('Unknown', 'NoProxies', 'no proxy that it affects is connected');
  return done(of(final, final, `${summary}; ${applied}`));
}

/** Returns why no target accepts a policy; undefined if some target does. */
function findRefusal({ policy: { violation }, ancestors }: PolicyEvaluation): ConditionReason | undefined {
  if (violation) return { reason: 'Invalid', message: `${violation.field} ${violation.reason} (${violation.rule})` };
  if (ancestors.some((each) => !each.refused)) return undefined;
  return ancestors[0]?.refused ?? { reason: 'TargetNotFound', message: 'it has no targets' };
}

function describeTargets({ ancestors }: PolicyEvaluation): string {
  const refused = ancestors.flatMap((each) => each.refused ?? []);
  const taken = `attached to ${ancestors.length - refused.length} of ${ancestors.length} targets`;
  const [first] = refused;
  return first ? `${taken}; ${first.message}` : taken;
}

const describeTcp = (summary: string, { names }: TcpTargets): string =>
  `${summary}; no proxy reads requests at ${listed(names)}: connections are passed on as bytes`;

/** Returns how much of a policy remains in force beside others: 2 all of it everywhere, 1 some of it, 0 nothing. */
export function computeRank({ scopes: { total, enforced, partial } }: PolicyEvaluation): 0 | 1 | 2 {
  if (enforced + partial === 0) return 0;
  return enforced === total ? 2 : 1;
}

/** Returns how much of a policy the written status claims: 2 Enforced, 1 PartiallyEnforced, 0 neither; undefined if it has no condition. */
export function writtenRank(status: JsonObject | undefined): number | undefined {
  const conditions = status?.['conditions'];
  const all = isJsonArray(conditions) ? conditions.filter(isJsonObject) : [];
  if (!all.some(({ type }) => type === 'Enforced')) return undefined;
  const isTrue = (wanted: Type): boolean => all.some(({ type, status: is }) => type === wanted && is === 'True');
  return isTrue('Enforced') ? 2 : isTrue('PartiallyEnforced') ? 1 : 0;
}

const done = (conditions: readonly Condition[]): PolicyConditions => ({ conditions, isPending: false });

function all(why: ConditionReason, observedGeneration: number): Condition[] {
  return policyConditionTypes.map((type) => ({ type, status: 'False', ...why, observedGeneration }));
}

/** `type`: the condition that is True; `Unknown` if it is unknown whether Enforced is; undefined if none is. */
function conditions(given: {
  readonly accepted: ConditionReason;
  readonly type: Type | 'Unknown' | undefined;
  readonly reason: string;
  readonly message: string;
  readonly generation: number;
}): Condition[] {
  const { accepted, type: wanted, reason, message, generation: observedGeneration } = given;
  return policyConditionTypes.map((type) => {
    if (type === 'Accepted') return { type, status: 'True', ...accepted, observedGeneration };
    const isUnknown = wanted === 'Unknown' && type === 'Enforced';
    return {
      type,
      status: type === wanted ? 'True' : isUnknown ? 'Unknown' : 'False',
      reason,
      message,
      observedGeneration,
    };
  });
}

/** `AtomicDefaults: enforced in 1 of 2 scopes; beaten by ns/p2 in g1>r1>b1` (T004-32, -47, -48). */
function describe({ policy: { strategy }, scopes: { total, enforced, partial }, beaten }: PolicyEvaluation): string {
  const partly = partial > 0 ? `, partially in ${partial}` : '';
  const notes: string[] = [];
  let room = MAX_SCOPES;
  let unnamed = 0;
  for (const scope of beaten) {
    const names = scope.names.slice(0, room);
    if (names.length === 0) {
      unnamed += scope.count;
      continue;
    }
    room -= names.length;
    notes.push(formatNote(scope, names));
  }
  if (unnamed > 0) notes.push(`beaten in ${unnamed} more`);
  return [`${strategy}: enforced in ${enforced} of ${total} scopes${partly}`, ...notes].join('; ');
}

function formatNote({ state, enforced, superseded, by, count }: ScopeResult, names: readonly string[]): string {
  const more = count > names.length ? ` and ${count - names.length} more` : '';
  const where = `${names.join(', ')}${more}`;
  const whom = listed(by);
  return state === 'Overridden'
    ? `beaten by ${whom} in ${where}`
    : `enforced ${listed(enforced)}; superseded ${listed(superseded)} by ${whom} in ${where}`;
}

/** Maximum number of names in one list of a message. */
const MAX_LISTED = 8;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MAX_LISTED).join(', ');
  return names.length > MAX_LISTED ? `${shown} and ${names.length - MAX_LISTED} more` : shown;
}
