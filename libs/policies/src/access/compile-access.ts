import { compareText } from '@causeway/resources';
import type { AccessCallerMatch, AccessRule, AccessSpec } from '../shipped/access-policy';
import { changingPrefixes, formerId, namespacedIds, type ChangingIds } from './changing-ids';
import { fitsId, type AccessClause, type AccessRules, type CallerTerm, type IdMatch } from './access-rules';

/** Workload with a SPIFFE id, as far as the zone knows: instances of a service, or Dataplanes of a namespace. */
export interface IdBearer {
  readonly namespace: string;
  /** Undefined for a Dataplane. */
  readonly service?: string;
}

/**
 * Known identities of callers of one mesh, besides the certificate that they present. Ids are those that a MeshIdentity assigns.
 */
export interface CallerFacts {
  /** Returns all known ids. */
  ids(): Iterable<string>;
  /** Returns the ids of workloads in a namespace. */
  idsIn(namespace: string): Iterable<string>;
  listBearers(id: string): readonly IdBearer[];
  /** Returns trust domains whose ids certainly belong to this zone, and those whose ids may. */
  listDomains(zone: string): { readonly sure: readonly string[]; readonly possible: readonly string[] };
  /** Returns the zones in which the format of ids changes: a workload there may present its id in either format. */
  changing(): readonly ChangingIds[];
}

/** Maximum number of ids in one compiled rule. Ids beyond it are refused: not allowed, or not excepted from a deny. */
const MAX_IDS = 10_000;

/**
 * Compiles the rules of an effective policy and resolves their callers. Ambiguity counts against the caller: an allow
 * covers ids that certainly belong to its callers, a deny all ids that do not certainly belong to others. A spec that
 * cannot be read refuses everybody. Linear in the rules and the ids of the namespaces that they name; a deny by
 * namespace or service is linear in all ids of the mesh.
 */
export function compileAccess(
  spec: AccessSpec | undefined,
  defaultAccess: AccessRules['defaultAccess'],
  facts: CallerFacts,
): AccessRules {
  if (!spec) return { deny: [{ name: 'unreadable', callers: 'anyone', to: undefined }], allow: [], defaultAccess };
  const { allow, deny = {} } = spec;
  return {
    deny: compileClauses(deny, (match) => listDeniedCallers(match, facts)),
    allow: allow && compileClauses(allow, (match) => [allowedBy(match, facts)]),
    defaultAccess,
  };
}

/**
 * Returns the namespaces whose ids affect the compiled spec: those named by its allows; `all` if a deny names one,
 * because it covers all ids that are not certainly elsewhere. Ids and prefixes may also name one.
 */
export function namespacesAsked({ allow = {}, deny = {} }: AccessSpec): ReadonlySet<string> | 'all' {
  const refused = Object.values(deny).flatMap(({ from = [] }) => from);
  if (refused.some((match) => compileCallerScope(match) ?? namespaceNamed(match) !== undefined)) return 'all';
  const found = new Set<string>();
  for (const match of Object.values(allow).flatMap(({ from = [] }) => from)) {
    const named = namespaceNamed(match);
    if (named === '') return 'all';
    for (const namespace of [compileCallerScope(match)?.namespace, named])
      if (namespace !== undefined) found.add(namespace);
  }
  return found;
}

/** Returns the namespace in the path of an id or prefix, empty if it is cut off; undefined if the path has none. */
function namespaceNamed({ spiffeId }: AccessCallerMatch): string | undefined {
  const [, namespace] = /^spiffe:\/\/[^/]+\/ns(?:$|\/([^/]*))/.exec(spiffeId?.value ?? '') ?? [];
  return spiffeId && /^spiffe:\/\/[^/]+\/ns(?:\/|$)/.test(spiffeId.value) ? (namespace ?? '') : undefined;
}

/** Compiles a rule to one clause per entry; entries with only ids share a clause. */
function compileClauses(
  rules: Readonly<Record<string, AccessRule>>,
  compileTerms: (match: AccessCallerMatch) => readonly CallerTerm[],
): readonly AccessClause[] {
  return Object.keys(rules)
    .sort(compareText)
    .flatMap((name): readonly AccessClause[] => {
      const { from, to } = rules[name] ?? {};
      if (!from) return [{ name, callers: 'anyone', to }];
      const terms = from.flatMap(compileTerms);
      const lists = terms.flatMap(({ included, except }) =>
        included !== 'anyone' && except.length === 0 ? included : [],
      );
      const others = terms.filter(({ included, except }) => included === 'anyone' || except.length > 0);
      const joined = lists.length === 0 ? [] : [{ included: sortMatches(lists), except: [] }];
      return [...joined, ...others].map((callers) => ({ name, callers, to }));
    });
}

function allowedBy(match: AccessCallerMatch, facts: CallerFacts): CallerTerm {
  const { zone } = match;
  const ofZone = zone === undefined ? undefined : facts.listDomains(zone).sure.map(matchTrustDomain);
  const named = addFormerIds(intersectIds(idsNamed(match), ofZone), facts);
  const place = compileCallerScope(match);
  if (!place) return { included: named === 'anyone' ? [] : named, except: [] };
  const sure = [...facts.idsIn(place.namespace)].filter(
    (id) => isNamed(named, id) && isSurelyIn(place, facts.listBearers(id)),
  );
  return { included: exactly(sure), except: [] };
}

/** Returns the callers that an entry of a deny names, and the same callers in the other format of ids. */
function listDeniedCallers(match: AccessCallerMatch, facts: CallerFacts): readonly CallerTerm[] {
  const { zone } = match;
  const ofZone = zone === undefined ? undefined : facts.listDomains(zone).possible.map(matchTrustDomain);
  const ids = intersectIds(idsNamed(match), ofZone);
  const named = addFormerIds(ids, facts);
  const former = ids === 'anyone' ? [] : listFormerTerms(ids, facts);
  const place = compileCallerScope(match);
  if (!place) return [{ included: named, except: [] }, ...former];
  const others = [...facts.ids()].filter((id) => isNamed(named, id) && isSurelyNotIn(place, facts.listBearers(id)));
  return [{ included: named, except: others.sort(compareText).slice(0, MAX_IDS) }, ...former];
}

/**
 * Returns equivalents of these ids while the format of ids changes, if they certainly belong to nobody else: an id
 * without a namespace covers all ids that have one, an id with a namespace covers the one without if all its known
 * workloads are in the namespace.
 */
function addFormerIds(named: readonly IdMatch[] | 'anyone', facts: CallerFacts): readonly IdMatch[] | 'anyone' {
  const changing = facts.changing();
  if (named === 'anyone' || changing.length === 0) return named;
  const others = named.flatMap(({ type, value }): readonly IdMatch[] => {
    if (type === 'Exact') {
      const former = formerId(value, changing);
      const isSure = former && isSurelyIn(former, facts.listBearers(former.uri));
      return exactly([...namespacedIds(value, changing), ...(isSure === true ? [former.uri] : [])]);
    }
    const { namespaced, former } = changingPrefixes(value, changing);
    const known = former.flatMap(({ prefix, namespaces }) =>
      namespaces.flatMap((namespace) =>
        [...facts.idsIn(namespace)].filter(
          (id) => id.startsWith(prefix) && isSurelyIn({ namespace }, facts.listBearers(id)),
        ),
      ),
    );
    return [...namespaced.map((prefix): IdMatch => ({ type: 'Prefix', value: prefix })), ...exactly(known)];
  });
  return [...named, ...others];
}

/** Returns the ids without a namespace that these callers may present and that may not belong to others. */
function listFormerTerms(named: readonly IdMatch[], facts: CallerFacts): readonly CallerTerm[] {
  const changing = facts.changing();
  const exact = named.flatMap(({ type, value }) => (type === 'Exact' ? (formerId(value, changing) ?? []) : []));
  const ids = exact.filter(({ uri, namespace }) => !isSurelyNotIn({ namespace }, facts.listBearers(uri)));
  const prefixes = named.flatMap(({ type, value }) =>
    type === 'Prefix' ? changingPrefixes(value, changing).former : [],
  );
  const terms = prefixes.map(({ prefix, namespaces }): CallerTerm => {
    const others = [...facts.ids()].filter(
      (id) =>
        id.startsWith(prefix) && namespaces.every((namespace) => isSurelyNotIn({ namespace }, facts.listBearers(id))),
    );
    return { included: [{ type: 'Prefix', value: prefix }], except: others.sort(compareText).slice(0, MAX_IDS) };
  });
  return [...(ids.length > 0 ? [{ included: exactly(ids.map(({ uri }) => uri)), except: [] }] : []), ...terms];
}

interface CallerTarget {
  readonly namespace: string;
  readonly service?: string;
}

/** Compiles an entry's namespace and service; undefined if it has neither. A service of a namespace other than the entry's matches nothing. */
function compileCallerScope({ namespace, service }: AccessCallerMatch): CallerTarget | undefined {
  if (service) {
    const isElsewhere = namespace !== undefined && namespace !== service.namespace;
    return { namespace: isElsewhere ? '' : service.namespace, service: service.name };
  }
  return namespace === undefined ? undefined : { namespace };
}

/** Returns whether all known workloads with an id are in the namespace, and instances of the service are among them. */
function isSurelyIn({ namespace, service }: CallerTarget, bearers: readonly IdBearer[]): boolean {
  return (
    bearers.length > 0 &&
    bearers.every((bearer) => bearer.namespace === namespace) &&
    (service === undefined || bearers.some((bearer) => bearer.service === service))
  );
}

/**
 * Returns whether the workloads with an id are known and none is in the target. An instance without a known service
 * could belong to any.
 */
function isSurelyNotIn({ namespace, service }: CallerTarget, bearers: readonly IdBearer[]): boolean {
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

/** Returns the intersection. A match covers a whole trust domain, so it is inside one of a zone or outside all. */
function intersectIds(named: readonly IdMatch[] | 'anyone', ofZone: readonly IdMatch[] | undefined) {
  if (!ofZone) return named;
  if (named === 'anyone') return ofZone;
  return named.filter(({ value }) => ofZone.some((domain) => value.startsWith(domain.value)));
}

function isNamed(named: readonly IdMatch[] | 'anyone', id: string): boolean {
  return named === 'anyone' || named.some((match) => fitsId(match, id));
}

function matchTrustDomain(trustDomain: string): IdMatch {
  return { type: 'Prefix', value: `spiffe://${trustDomain}/` };
}

function exactly(ids: readonly string[]): readonly IdMatch[] {
  return ids.map((value) => ({ type: 'Exact', value }));
}

/** Removes duplicates and sorts, so that equal rules have equal bytes. */
function sortMatches(matches: readonly IdMatch[]): readonly IdMatch[] {
  const byText = new Map(matches.map((match) => [`${match.value} ${match.type}`, match]));
  return [...byText.entries()]
    .sort(([a], [b]) => compareText(a, b))
    .map(([, match]) => match)
    .slice(0, MAX_IDS);
}
