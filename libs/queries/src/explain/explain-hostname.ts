import type { HostnameEntry, HostnameExplanation } from '@causeway/api';
import { templateRequirements, type ParsedGenerator, type ClaimTable } from '@causeway/naming';
import { compareText } from '@causeway/resources';
import { sortedPage, type PageRange, type SortedPage } from '@causeway/runtime';
import { explainClaims } from './explained-claim';

/** A hostname of a mesh. */
export type HostnameRef = {
  readonly mesh: string;
  readonly hostname: string;
};

/** Explains one hostname. For a name without claims the hints list generators that could assign it. Rejects only when `signal` aborts. */
export async function explainHostname(
  table: ClaimTable,
  { mesh, hostname }: HostnameRef,
  signal: AbortSignal,
): Promise<HostnameExplanation> {
  const name = normalizeHostname(hostname);
  const claims = explainClaims(table.claimsOn(mesh, name));
  const [winner] = claims;
  const question = { mesh, hostname: name, zone: table.ownZone };
  if (winner) return { ...question, winner, claims, hints: [] };
  return { ...question, claims, hints: await hintsFor(table, { mesh, hostname: name }, signal) };
}

/** Selects a page of the hostnames that contain a text, sorted. */
export interface HostnamePage extends PageRange {
  readonly containing?: string;
  /** The zone whose view is requested; absent on the global: as each zone reported its own services. */
  readonly zone?: string;
}

/** Lists the claimed hostnames of a mesh, with all claims (docs/design.md §4). Blocks the event loop for at most a slice. */
export async function listHostnames(
  table: ClaimTable,
  mesh: string,
  { containing = '', ...part }: HostnamePage,
  signal: AbortSignal,
): Promise<SortedPage<HostnameEntry>> {
  const wanted = filterNames(table.hostnames(mesh), (name) => name.includes(containing));
  const names = await sortedPage(wanted, compareText, part, signal);
  const items = names.items.flatMap((hostname) => {
    const claims = explainClaims(table.claimsOn(mesh, hostname));
    const [winner] = claims;
    return winner ? [{ hostname, winner, claims }] : [];
  });
  return { total: names.total, items };
}

/** Yields the wanted names, and undefined for each other name, so that the caller can yield the event loop in between. */
function* filterNames(names: Iterable<string>, isWanted: (name: string) => boolean): Generator<string | undefined> {
  for (const name of names) yield isWanted(name) ? name : undefined;
}

/** Returns a hostname in stored form: lower case, without a dot at its end. */
function normalizeHostname(hostname: string): string {
  return hostname.toLowerCase().replace(/\.$/, '');
}

async function hintsFor(
  table: ClaimTable,
  { mesh, hostname }: HostnameRef,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (!table.hasMesh(mesh))
    return [`Mesh "${mesh}" is not known in this zone; services of a missing mesh are not named`];
  const generators = [...table.generators()].flatMap((rule) => generatorHint(rule, hostname));
  const first = hostname.split('.')[0] ?? '';
  const alike = filterNames(table.hostnames(mesh), (name) => name.startsWith(`${first}.`));
  const { items: similar } = await sortedPage(alike, compareText, { offset: 0, size: 5 }, signal);
  const others = similar.length === 0 ? [] : [`names that begin like it: ${similar.join(', ')}`];
  if (generators.length > 0) return [...generators, ...others];
  return ['no HostnameGenerator of this zone makes names of this form', ...others];
}

function generatorHint(rule: ParsedGenerator, hostname: string): readonly string[] {
  const needs = rule.template && templateRequirements(rule.template, hostname);
  if (!needs) return [];
  const having = [
    ...needs.map(({ what, value }) => `${what} "${value}"`),
    ...rule.selectors.flatMap(({ required: wanted }) => wanted.map(({ key, value }) => `label "${key}" "${value}"`)),
  ];
  const kinds = rule.selectors.map(({ kind }) => kind).join(' or ');
  const which = having.length === 0 ? '' : ` with ${[...new Set(having)].join(', ')}`;
  return [`HostnameGenerator "${rule.id.name}" would give it to a ${kinds || 'service'}${which}; there is none`];
}
