import { MOST_SCOPES, type PolicyVerdict, type ScopeVerdict } from '@causeway/policies';
import { isJsonArray, isJsonObject, type Condition, type JsonObject } from '@causeway/resources';
import { namesOf, type ResourceProgress } from '../progress/progress';
import type { BytesTargets } from './policy-progress';

/** What of a policy proxies cannot do, in words, of those that are named. */
type WhyUnable = (progress: ResourceProgress) => string;

/** Who has applied what is left of a policy; `nobody` for kinds that no proxy is told of, undefined while nothing is known. */
export type Enforcement =
  | 'nobody'
  | undefined
  | {
      readonly progress: ResourceProgress;
      readonly why: WhyUnable;
      readonly isNothing: (of: ResourceProgress) => boolean;
      readonly bytes?: BytesTargets;
    };

/** The conditions of a policy, and whether they stay as they are until something else changes. */
export interface Judged {
  readonly conditions: readonly Condition[];
  /** Some have still to apply it, or it is not known who has. */
  readonly isPending: boolean;
}

/** The types of conditions that stand at each policy; at most one of the last three is True (T004-49). */
const policyConditionTypes = ['Accepted', 'Enforced', 'PartiallyEnforced', 'Overridden'] as const;
type Type = (typeof policyConditionTypes)[number];

const DECIDED = 'decided by the policies alone: no proxy is told of this kind';

/** What the status of a policy says (T004-44 to -50). */
export function policyConditions(verdict: PolicyVerdict, enforcement: Enforcement, generation: number): Judged {
  const { policy, ancestors, scopes } = verdict;
  const { violation, strategy } = policy;
  const refused = ancestors.find((each) => each.refused)?.refused;
  const isAccepted = violation === undefined && ancestors.some((each) => !each.refused);
  if (!isAccepted) {
    const why = violation
      ? { reason: 'Invalid', message: `${violation.field} ${violation.reason} (${violation.rule})` }
      : refused;
    return done(
      all({ reason: why?.reason ?? 'TargetNotFound', message: why?.message ?? 'it has no targets' }, generation),
    );
  }
  const held = ancestors.filter((each) => !each.refused).length;
  const taken = `attached to ${held} of ${ancestors.length} targets`;
  const accepted = { reason: 'Accepted', message: refused ? `${taken}; ${refused.message}` : taken };
  const of = (type: Type | 'Unknown' | undefined, reason: string, message: string): Condition[] =>
    conditions({ accepted, type, reason, message, generation });
  const rank = rankOf(verdict);
  const said = describe(verdict);
  if (scopes.total === 0) return done(of(undefined, 'NoEffectiveTargets', `${strategy}: nothing is below its targets`));
  if (rank === 0) return done(of('Overridden', 'Overridden', said));
  const final = rank === 2 ? 'Enforced' : 'PartiallyEnforced';
  if (enforcement === 'nobody') return done(of(final, final, `${said}; ${DECIDED}`));
  const pending = (type: Type | 'Unknown' | undefined, reason: string, message: string): Judged => ({
    conditions: of(type, reason, `${said}; ${message}`),
    isPending: true,
  });
  if (!enforcement) return pending('Unknown', 'Pending', 'it is not known yet who has applied it');
  const { progress, why, isNothing, bytes } = enforcement;
  if (bytes) return done(of(bytes.isAll ? undefined : 'PartiallyEnforced', 'NotSupported', passedOn(said, bytes)));
  const { proxies, unable, zones, silent = [], isPartial = false } = progress;
  const applied = appliedBy(progress);
  const lacks = proxies.acked < proxies.total || (zones !== undefined && zones.acked < zones.total);
  if (unable.total > 0) {
    const message = `${applied}; ${namesOf(unable, unable.total)} cannot obey all of it: ${why(progress)}`;
    const isNone = proxies.acked === 0 && !isPartial && isNothing(progress);
    const judged = pending(isNone ? undefined : 'PartiallyEnforced', 'NotSupported', message);
    return { ...judged, isPending: lacks };
  }
  if (silent.length > 0)
    return pending('Unknown', 'NotReported', `${applied}; not known until it is reported by ${listed(silent)}`);
  if (lacks) return pending(proxies.acked > 0 ? 'PartiallyEnforced' : undefined, 'Pending', applied);
  if (proxies.total === 0 && !isPartial)
    return pending('Unknown', 'NoProxies', 'no proxy that it concerns is connected');
  return done(of(final, final, `${said}; ${applied}`));
}

const passedOn = (said: string, { names }: BytesTargets): string =>
  `${said}; nobody looks into requests at ${listed(names)}: connections are passed on as bytes`;

/** How much of a policy the others leave: 2 is all of it everywhere, 1 some of it, 0 nothing. */
export function rankOf({ scopes: { total, enforced, partial } }: PolicyVerdict): 0 | 1 | 2 {
  if (enforced + partial === 0) return 0;
  return enforced === total ? 2 : 1;
}

/** How much is written of a policy: 2 is Enforced, 1 PartiallyEnforced, 0 neither; undefined where nothing is. */
export function writtenRank(status: JsonObject | undefined): number | undefined {
  const conditions = status?.['conditions'];
  const all = isJsonArray(conditions) ? conditions.filter(isJsonObject) : [];
  if (!all.some(({ type }) => type === 'Enforced')) return undefined;
  const isTrue = (wanted: Type): boolean => all.some(({ type, status: is }) => type === wanted && is === 'True');
  return isTrue('Enforced') ? 2 : isTrue('PartiallyEnforced') ? 1 : 0;
}

const done = (conditions: readonly Condition[]): Judged => ({ conditions, isPending: false });

function all(why: { readonly reason: string; readonly message: string }, observedGeneration: number): Condition[] {
  return policyConditionTypes.map((type) => ({ type, status: 'False', ...why, observedGeneration }));
}

/** `type` is the one that is True; `Unknown` that it is not known whether it is Enforced; undefined that none is. */
function conditions(given: {
  readonly accepted: { readonly reason: string; readonly message: string };
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
function describe({ policy: { strategy }, scopes: { total, enforced, partial }, beaten }: PolicyVerdict): string {
  const partly = partial > 0 ? `, partially in ${partial}` : '';
  const notes: string[] = [];
  let room = MOST_SCOPES;
  let unnamed = 0;
  for (const scope of beaten) {
    const names = scope.names.slice(0, room);
    if (names.length === 0) {
      unnamed += scope.count;
      continue;
    }
    room -= names.length;
    notes.push(noteOf(scope, names));
  }
  if (unnamed > 0) notes.push(`beaten in ${unnamed} more`);
  return [`${strategy}: enforced in ${enforced} of ${total} scopes${partly}`, ...notes].join('; ');
}

function noteOf({ state, enforced, superseded, by, count }: ScopeVerdict, names: readonly string[]): string {
  const more = count > names.length ? ` and ${count - names.length} more` : '';
  const where = `${names.join(', ')}${more}`;
  const whom = listed(by);
  return state === 'Overridden'
    ? `beaten by ${whom} in ${where}`
    : `enforced ${listed(enforced)}; superseded ${listed(superseded)} by ${whom} in ${where}`;
}

/** Most names in one list of a message. */
const MOST_LISTED = 8;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_LISTED).join(', ');
  return names.length > MOST_LISTED ? `${shown} and ${names.length - MOST_LISTED} more` : shown;
}

function appliedBy({ proxies, zones, isPartial = false }: ResourceProgress): string {
  const counts = [
    ...(isPartial ? [] : [`${proxies.acked} of ${proxies.total} proxies`]),
    ...(zones ? [`${zones.acked} of ${zones.total} zones`] : []),
  ].join(', ');
  return [
    `applied by ${counts}`,
    ...(proxies.acked < proxies.total ? [`waiting for ${namesOf(proxies)}`] : []),
    ...(zones && zones.acked < zones.total ? [`waiting for ${namesOf(zones)}`] : []),
  ].join('; ');
}
