import { NetworkRbac, RBAC_Action, RbacMatchAction, SubjectInput, UriSanInput } from '@causeway/proto-gen';
import type { EndedEnrolment } from '../access/ended-enrolments';
import { packExtension, packFilter } from '@causeway/xds-server';

const SUBJECT = packExtension('subject', SubjectInput, {});
const URI = packExtension('uri', UriSanInput, {});
const DENY = toAction('ended', RBAC_Action.DENY);
const ALLOW = toAction('others', RBAC_Action.ALLOW);

/**
 * Returns the filter that closes connections of hosts whose enrolment has ended; empty where none has. It matches the subject of the certificate,
 * because other hosts may share the SPIFFE id; a zone can end certificates in its own trust domains only.
 */
export function endedFilters(statPrefix: string, ended: readonly EndedEnrolment[]): ReturnType<typeof packFilter>[] {
  if (ended.length === 0) return [];
  const matchers = ended.map((one) => ({ predicate: isCallerOf(one), onMatch: DENY }));
  const matcher = { matcherType: { $case: 'matcherList' as const, value: { matchers } }, onNoMatch: ALLOW };
  return [packFilter('ended', NetworkRbac, { statPrefix, matcher })];
}

function isCallerOf({ enrolment, domains }: EndedEnrolment) {
  const subject = single(SUBJECT, { $case: 'exact', value: `CN=${enrolment}` });
  if (!domains) return subject;
  const ids = domains.map((domain) => single(URI, { $case: 'prefix', value: `spiffe://${domain}/` }));
  const [only, ...more] = ids;
  const id = only && more.length === 0 ? only : some(ids);
  return { matchType: { $case: 'andMatcher' as const, value: { predicate: [subject, id] } } };
}

function some(predicate: ReturnType<typeof single>[]) {
  return { matchType: { $case: 'orMatcher' as const, value: { predicate } } };
}

type Pattern = { readonly $case: 'exact' | 'prefix'; readonly value: string };

function single(input: typeof SUBJECT, matchPattern: Pattern) {
  const value = { input, matcher: { $case: 'valueMatch' as const, value: { matchPattern } } };
  return { matchType: { $case: 'singlePredicate' as const, value } };
}

function toAction(name: string, action: RBAC_Action) {
  return { onMatch: { $case: 'action' as const, value: packExtension(name, RbacMatchAction, { name, action }) } };
}
