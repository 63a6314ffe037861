import { isGatewayGroup } from '../binding/frontend-group';
import type { Binding, Entry } from '../binding/binding';
import type { BindingTable } from '../binding/binding-table';
import { compareRanks } from '../rules/compiled-match';
import { evaluate, findMismatch, type Decision, type IsReady, type RouteQuestion } from './evaluate';
import { RequestFields } from '../rules/request';

/** Maximum number of rules that an explanation lists; the others are counted. */
const MAX_EXPLAINED = 256;

/** A match that did not decide. */
interface LostMatch {
  /** `HTTPRoute store/foo-route` */
  readonly route: string;
  readonly rule: string;
  readonly match: string;
  readonly reason: string;
}

/** A decision, and the reasons why other rules did not decide. */
export interface Explanation extends Decision {
  /** Steps that led to the group, in order. */
  readonly steps: readonly string[];
  /** The first matches that did not decide, in order of precedence. */
  readonly lost: readonly LostMatch[];
  readonly lostTotal: number;
  /** Notes about fields that have no effect here. */
  readonly notes: readonly string[];
}

/**
 * Evaluates a request, and explains why every other rule lost. Linear in the matches of the frontend's groups. Throws
 * TooCostly if their regular expressions take too many steps.
 */
export function explain(table: BindingTable, question: RouteQuestion, isReady: IsReady): Explanation {
  const decision = evaluate(table, question, isReady);
  const { binding, entry } = decision;
  const lost: LostMatch[] = [];
  let lostTotal = 0;
  const fields = question.request.protocol === 'http' ? new RequestFields(question.request) : undefined;
  for (const one of binding?.entries ?? []) {
    if (one === entry) continue;
    lostTotal += 1;
    if (binding && lost.length < MAX_EXPLAINED) lost.push(describeLostMatch(one, binding, entry, fields));
  }
  return { ...decision, steps: listSteps(table, question, decision), lost, lostTotal, notes: listNotes(binding) };
}

const formatRouteName = ({ route }: Pick<Entry, 'route'>): string =>
  `${route.kind} ${route.id.namespace}/${route.id.name}`;

function describeLostMatch(one: Entry, binding: Binding, winner: Entry | undefined, fields?: RequestFields): LostMatch {
  const refusal = fields ? findMismatch(one, binding, fields) : 'an HTTP request';
  const reason = refusal === undefined ? findDecidingCriterion(one, winner) : `does not match: needs ${refusal}`;
  return { route: formatRouteName(one), rule: one.rule.name, match: one.match.text, reason };
}

/** Returns the criterion by which the winner has precedence. */
function findDecidingCriterion(loser: Entry, winner: Entry | undefined): string {
  if (!winner) return 'matches';
  const place = winner.match.rank.findIndex((value, i) => value !== loser.match.rank[i]);
  if (compareRanks(winner.match.rank, loser.match.rank) < 0) {
    const criteria = winner.route.kind === 'GRPCRoute' ? grpcCriteria : httpCriteria;
    return `matches, but ${formatRouteName(winner)} ${winner.rule.name} has ${criteria[place] ?? 'a stronger match'}`;
  }
  if (winner.route === loser.route) return `matches, but ${winner.rule.name} stands before it in the list`;
  const older = winner.route.creationOrder !== loser.route.creationOrder ? 'is older' : 'comes first by name';
  return `matches as well, but ${formatRouteName(winner)} ${older}`;
}

const httpCriteria = [
  'a stronger kind of path match',
  'a longer prefix',
  'a method match',
  'more header matches',
  'more query matches',
];
const grpcCriteria = ['a longer service', 'a longer method', 'more header matches'];

function listSteps(table: BindingTable, { client, frontend, port }: RouteQuestion, { binding }: Decision): string[] {
  const from = 'gateway' in client ? `Gateway ${client.gateway}` : `namespace ${client.namespace}`;
  const { kind, namespace, name } = frontend.id;
  const steps = [`from ${from} to port ${port} of ${kind} ${namespace}/${name}`];
  const others = table.listGroups(frontend).filter((group) => group !== binding?.group);
  if (!binding) steps.push('no route is accepted at this port for this client: the implicit route holds');
  else steps.push(`group ${binding.group} decides, with ${binding.routes.length} ${binding.kind}s`);
  for (const group of others) steps.push(`group ${group} does not decide for this client`);
  if (binding) steps.push(...listLostKinds(table, binding));
  return steps.slice(0, MAX_EXPLAINED);
}

/** Returns the routes of the same group that lost this port to another kind. */
function listLostKinds(table: BindingTable, { frontend, group, port, kind }: Binding): string[] {
  const names = new Set<string>();
  for (const [key, { lost, refusal }] of table.group(frontend, group).results) {
    const route = table.route(key.replace(/#[0-9]+$/, ''));
    if (!route) continue;
    if (refusal) names.add(`${formatRouteName({ route })} is not accepted: ${refusal.reason}, ${refusal.message}`);
    if (lost.some((one) => one.port === port))
      names.add(`${formatRouteName({ route })} loses port ${port} to kind ${kind}`);
  }
  return [...names].sort();
}

function listNotes(binding: Binding | undefined): string[] {
  if (!binding) return [];
  const [first, ...idle] = binding.routes;
  const named = binding.routes.filter(({ spec }) => spec.hostnames?.length && !isGatewayGroup(binding.group));
  const notes = named
    .slice(0, MAX_EXPLAINED)
    .map((route) => `hostnames of ${formatRouteName({ route })} have no effect here: its parent is a service`);
  if (first && idle.length > 0 && binding.kind !== 'HTTPRoute' && binding.kind !== 'GRPCRoute') {
    notes.push(
      `${formatRouteName({ route: first })} is the oldest and carries all traffic; ${idle.length} others none`,
    );
  }
  return notes;
}
