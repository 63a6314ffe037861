import { compareText } from '@causeway/resources';
import type { AccessCallerMatch, AccessRule, AccessSpec } from '../shipped/access-policy';
import { fitsId, type AccessClause, type AccessRules, type CallerTerm, type IdMatch } from './access-rules';

/** Who carries a SPIFFE id, as far as the zone knows: instances of a service, or Dataplanes of a namespace. */
export interface IdBearer {
  readonly namespace: string;
  /** Undefined for a Dataplane. */
  readonly service?: string;
}

/** What is known of callers of one mesh besides the certificate that they show. Ids are those that a MeshIdentity gives. */
export interface CallerFacts {
  /** All ids that are known. */
  ids(): Iterable<string>;
  /** Ids that something in a namespace carries. */
  idsIn(namespace: string): Iterable<string>;
  bearersOf(id: string): readonly IdBearer[];
  /** Trust domains whose ids are of this zone for sure, and those whose ids may be. */
  domainsOf(zone: string): { readonly sure: readonly string[]; readonly possible: readonly string[] };
}

/** Most ids that one rule is compiled to. What is cut off is refused: it is not allowed, or not excepted from a deny. */
export const MOST_IDS = 10_000;

/**
 * The rules of an effective policy with their callers found. What an id cannot tell counts against the caller: an allow takes ids that
 * are surely meant, a deny all that are not surely others. A spec that cannot be read refuses everybody. Linear in the rules and the
 * ids of the namespaces that they name; a deny by namespace or service is linear in all ids of the mesh.
 */
export function compileAccess(
  spec: AccessSpec | undefined,
  defaultAccess: AccessRules['defaultAccess'],
  facts: CallerFacts,
): AccessRules {
  if (!spec) return { deny: [{ name: 'unreadable', callers: 'anyone', to: undefined }], allow: [], defaultAccess };
  const { allow, deny = {} } = spec;
  return {
    deny: clausesOf(deny, (match) => refusedBy(match, facts)),
    allow: allow && clausesOf(allow, (match) => allowedBy(match, facts)),
    defaultAccess,
  };
}

/**
 * The namespaces whose ids decide what a spec is compiled to: those that its allows name; `all` where a deny names one, for it takes all
 * that are not surely elsewhere.
 */
export function namespacesAsked({ allow = {}, deny = {} }: AccessSpec): ReadonlySet<string> | 'all' {
  if (Object.values(deny).some(({ from }) => from?.some(placeOf))) return 'all';
  const found = Object.values(allow).flatMap(({ from = [] }) =>
    from.flatMap((match) => placeOf(match)?.namespace ?? []),
  );
  return new Set(found);
}

/** A rule is one clause for each of its entries; those that are lists of ids only are one together. */
function clausesOf(
  rules: Readonly<Record<string, AccessRule>>,
  termOf: (match: AccessCallerMatch) => CallerTerm,
): readonly AccessClause[] {
  return Object.keys(rules)
    .sort(compareText)
    .flatMap((name): readonly AccessClause[] => {
      const { from, to } = rules[name] ?? {};
      if (!from) return [{ name, callers: 'anyone', to }];
      const terms = from.map(termOf);
      const lists = terms.flatMap(({ within, except }) => (within !== 'anyone' && except.length === 0 ? within : []));
      const others = terms.filter(({ within, except }) => within === 'anyone' || except.length > 0);
      const joined = lists.length === 0 ? [] : [{ within: sorted(lists), except: [] }];
      return [...joined, ...others].map((callers) => ({ name, callers, to }));
    });
}

function allowedBy(match: AccessCallerMatch, facts: CallerFacts): CallerTerm {
  const { zone } = match;
  const ofZone = zone === undefined ? undefined : facts.domainsOf(zone).sure.map(prefixOf);
  const named = within(idsNamed(match), ofZone);
  const place = placeOf(match);
  if (!place) return { within: named === 'anyone' ? [] : named, except: [] };
  const sure = [...facts.idsIn(place.namespace)].filter(
    (id) => isNamed(named, id) && isSurelyIn(place, facts.bearersOf(id)),
  );
  return { within: exactly(sure), except: [] };
}

function refusedBy(match: AccessCallerMatch, facts: CallerFacts): CallerTerm {
  const { zone } = match;
  const ofZone = zone === undefined ? undefined : facts.domainsOf(zone).possible.map(prefixOf);
  const named = within(idsNamed(match), ofZone);
  const place = placeOf(match);
  if (!place) return { within: named, except: [] };
  const others = [...facts.ids()].filter((id) => isNamed(named, id) && isSurelyNotIn(place, facts.bearersOf(id)));
  return { within: named, except: others.sort(compareText).slice(0, MOST_IDS) };
}

interface Place {
  readonly namespace: string;
  readonly service?: string;
}

/** Undefined where an entry names neither; a service of another namespace than the entry's is nowhere. */
function placeOf({ namespace, service }: AccessCallerMatch): Place | undefined {
  if (service) {
    const isElsewhere = namespace !== undefined && namespace !== service.namespace;
    return { namespace: isElsewhere ? '' : service.namespace, service: service.name };
  }
  return namespace === undefined ? undefined : { namespace };
}

/** Everything that is known to carry an id is in the namespace, and instances of the service are among it. */
function isSurelyIn({ namespace, service }: Place, bearers: readonly IdBearer[]): boolean {
  return (
    bearers.length > 0 &&
    bearers.every((bearer) => bearer.namespace === namespace) &&
    (service === undefined || bearers.some((bearer) => bearer.service === service))
  );
}

/** It is known what carries the id, and none of it is meant. Of an instance that is known as no service's it is not known which. */
function isSurelyNotIn({ namespace, service }: Place, bearers: readonly IdBearer[]): boolean {
  const here = bearers.filter((bearer) => bearer.namespace === namespace);
  if (bearers.length === 0) return false;
  if (here.length === 0) return true;
  if (service === undefined) return false;
  return here.some((bearer) => bearer.service !== undefined) && here.every((bearer) => bearer.service !== service);
}

function idsNamed({ spiffeId }: AccessCallerMatch): readonly IdMatch[] | 'anyone' {
  if (!spiffeId) return 'anyone';
  const { type, value } = spiffeId;
  if (type === 'Exact' || value.endsWith('/')) return [{ type, value }];
  return [
    { type: 'Exact', value },
    { type: 'Prefix', value: `${value}/` },
  ];
}

/** Ids that are both. A match of ids names its whole trust domain, so it is in one of a zone or in none. */
function within(named: readonly IdMatch[] | 'anyone', ofZone: readonly IdMatch[] | undefined) {
  if (!ofZone) return named;
  if (named === 'anyone') return ofZone;
  return named.filter(({ value }) => ofZone.some((domain) => value.startsWith(domain.value)));
}

function isNamed(named: readonly IdMatch[] | 'anyone', id: string): boolean {
  return named === 'anyone' || named.some((match) => fitsId(match, id));
}

function prefixOf(trustDomain: string): IdMatch {
  return { type: 'Prefix', value: `spiffe://${trustDomain}/` };
}

function exactly(ids: readonly string[]): readonly IdMatch[] {
  return ids.map((value) => ({ type: 'Exact', value }));
}

/** Each once, in order, so that equal rules are equal bytes. */
function sorted(matches: readonly IdMatch[]): readonly IdMatch[] {
  const byText = new Map(matches.map((match) => [`${match.value} ${match.type}`, match]));
  return [...byText.entries()]
    .sort(([a], [b]) => compareText(a, b))
    .map(([, match]) => match)
    .slice(0, MOST_IDS);
}
