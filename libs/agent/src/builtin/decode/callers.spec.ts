import { HttpRbac, RBAC_Action } from '@causeway/proto-gen';
import { ANONYMOUS_CALLER } from './verified-caller';
import { UNCLEAR_PATHS } from '@causeway/xds-translation';
import { decodeCallerRule, decodeConnectionRule } from './callers';

const ID = 'spiffe://default.east.mesh.local/workload/web';
const all = { rule: { $case: 'any' as const, value: true } };
const gets = {
  rule: {
    $case: 'header' as const,
    value: {
      name: ':method',
      headerMatchSpecifier: {
        $case: 'stringMatch' as const,
        value: { matchPattern: { $case: 'exact' as const, value: 'GET' } },
      },
    },
  },
};
const anyone = { identifier: { $case: 'authenticated' as const, value: {} } };

const rbac = (
  action: RBAC_Action,
  policies: Readonly<Record<string, readonly (typeof all | typeof gets)[]>>,
): HttpRbac =>
  HttpRbac.fromPartial({
    rules: {
      action,
      policies: Object.fromEntries(
        Object.entries(policies).map(([name, permissions]) => [
          name,
          { permissions: [...permissions], principals: [anyone] },
        ]),
      ),
    },
  });

const { ALLOW, DENY } = RBAC_Action;

it.each<[string, HttpRbac, boolean, boolean]>([
  ['all requests are allowed', rbac(ALLOW, { a: [all] }), true, false],
  ['some requests are allowed', rbac(ALLOW, { a: [gets] }), false, true],
  ['some by one rule, all by another', rbac(ALLOW, { a: [gets], b: [all] }), true, true],
  ['nothing is allowed', rbac(ALLOW, {}), false, false],
  ['some requests are denied', rbac(DENY, { a: [gets] }), false, true],
  ['nothing is denied', rbac(DENY, {}), true, false],
  ['only unclear paths are denied', rbac(DENY, { [UNCLEAR_PATHS]: [gets] }), true, false],
])('a connection whose requests are not seen, where %s', (_, filter, allows, isOfRequests) => {
  const rule = decodeConnectionRule(filter);
  expect([rule.allows({ ids: [ID], subject: '' }), rule.dependsOnRequest]).toEqual([allows, isOfRequests]);
  // Callers without an identity match no rule.
  expect(rule.allows(ANONYMOUS_CALLER)).toBe(filter.rules?.action === DENY);
});

it('a filter of connections that looks at requests is refused', () => {
  expect(() => decodeCallerRule({ rules: rbac(ALLOW, { a: [gets] }).rules, matcher: undefined })).toThrow(
    'permissions',
  );
});
