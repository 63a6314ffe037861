import { HttpRbac, NetworkRbac, RBAC_Action, type Permission, type Principal } from '@causeway/proto-gen';
import type { RbacRules } from '@causeway/proto-gen/testing';
import { compileAccess, type AccessRequest, type AccessSpec, type CallerFacts } from '@causeway/policies';
import { mayCall } from '@causeway/policies/testing';
import fc from 'fast-check';
import { accessFilters, handshakeNames, takesAnonymous } from './access-filters';

const id = (workload: string, zone = 'east'): string => `spiffe://default.${zone}.mesh.local/workload/${workload}`;
const NAMESPACES: Readonly<Record<string, readonly string[]>> = {
  [id('a')]: ['shop'],
  [id('b')]: ['dev'],
  [id('c')]: ['shop', 'dev'],
};
const facts: CallerFacts = {
  ids: () => Object.keys(NAMESPACES),
  idsIn: (namespace) => Object.keys(NAMESPACES).filter((each) => NAMESPACES[each]?.includes(namespace)),
  listBearers: (each) => (NAMESPACES[each] ?? []).map((namespace) => ({ namespace })),
  listDomains: (zone) => ({ sure: [`default.${zone}.mesh.local`], possible: [`default.${zone}.mesh.local`] }),
  changing: () => [],
};
const CALLERS = [undefined, id('a'), id('b'), id('c'), id('d'), id('a', 'west')];
const PATHS = ['/', '/x', '/x/y', '/xy', '/x//y', '/%78', '/x?q=//', '/z', '/x/%c0%af', '/x/%C3%A9'];

const caller = fc.oneof(
  fc.record({ namespace: fc.constantFrom('shop', 'dev', 'other') }),
  fc.record({ zone: fc.constantFrom('east', 'west') }),
  fc.record({ zone: fc.constantFrom('east', 'west'), namespace: fc.constantFrom('shop', 'dev') }),
  fc.record({
    spiffeId: fc.record({
      type: fc.constantFrom('Exact' as const, 'Prefix' as const),
      value: fc.constantFrom(id('a'), id('d'), 'spiffe://default.west.mesh.local/', id('').slice(0, -1)),
    }),
  }),
);
const request = fc.record(
  {
    methods: fc.subarray(['GET', 'POST'], { minLength: 1 }),
    paths: fc.array(
      fc.record({
        type: fc.constantFrom('Exact' as const, 'PathPrefix' as const),
        value: fc.constantFrom('/', '/x', '/x/', '/z'),
      }),
      { minLength: 1, maxLength: 2 },
    ),
  },
  { requiredKeys: [] },
);
const rule = fc.record(
  {
    from: fc.array(caller, { minLength: 1, maxLength: 2 }),
    to: fc.array(request, { minLength: 1, maxLength: 2 }),
  },
  { requiredKeys: [] },
);
const rules = fc.dictionary(fc.constantFrom('one', 'two'), rule, { noNullPrototype: true });
const anySpec: fc.Arbitrary<AccessSpec> = fc.record({ allow: rules, deny: rules }, { requiredKeys: [] });

test('the filters decide as the policies do: of requests with what is in them, of connections without', () => {
  fc.assert(
    fc.property(
      fc.array(anySpec, { minLength: 1, maxLength: 2 }),
      fc.constantFrom('Allow' as const, 'Deny' as const),
      (specs, defaultAccess) => {
        const compiled = specs.map((spec) => compileAccess(spec, defaultAccess, facts));
        const filtersOf = accessFilters(compiled);
        const ofRequests = filtersOf({ statPrefix: 'p', isTls: true, isHttp: true }).http;
        const ofConnections = filtersOf({ statPrefix: 'p', isTls: true, isHttp: false }).network;
        const names = handshakeNames(compiled);
        for (const from of CALLERS) {
          for (const method of ['GET', 'PUT'])
            for (const path of PATHS) {
              const asked = { method, path };
              const want = compiled.every((each) => mayCall(each, from, asked).isAllowed);
              const got = ofRequests.every(({ configType: { value } }) =>
                lets(HttpRbac.decode(value.value).rules, from, asked),
              );
              expect([from, asked, got]).toEqual([from, asked, want]);
            }
          const want = compiled.every((each) => mayCall(each, from).isAllowed);
          const got = ofConnections.every(({ configType: { value } }) =>
            lets(NetworkRbac.decode(value.value).rules, from),
          );
          expect([from, got]).toEqual([from, want]);
          if (want && from !== undefined)
            expect(
              names?.some(({ type, value }) => (type === 'Exact' ? from === value : from.startsWith(value))),
            ).not.toBe(false);
          if (want && from === undefined) expect(takesAnonymous(compiled)).toBe(true);
        }
      },
    ),
  );
});

test('rules are linear in what they name', () => {
  const ids = Array.from({ length: 4_000 }, (_, n) => id(`w-${n}`));
  const many = { ...facts, ids: () => ids, idsIn: () => ids, listBearers: () => [{ namespace: 'shop' }] };
  const compiled = compileAccess({ allow: { a: { from: [{ namespace: 'shop' }] } } }, 'Deny', many);
  const [filter] = accessFilters([compiled])({ statPrefix: 'p', isTls: true, isHttp: true }).http;
  const bytes = filter?.configType.value.value.length ?? 0;
  expect(bytes / ids.length).toBeLessThan(100);
  expect(handshakeNames([compiled])).toHaveLength(4_000);
});

/** As Envoy reads it. */
function lets(rules: RbacRules | undefined, from: string | undefined, request?: AccessRequest): boolean {
  const fits = Object.values(rules?.policies ?? {}).some(
    ({ permissions, principals }) =>
      permissions.some((each) => permits(each, request)) && principals.some((each) => isPrincipal(each, from)),
  );
  return fits === (rules?.action === RBAC_Action.ALLOW);
}

function permits({ rule: of }: Permission, request: AccessRequest | undefined): boolean {
  switch (of?.$case) {
    case 'any':
      return of.value;
    case 'andRules':
      return of.value.rules.every((each) => permits(each, request));
    case 'notRule':
      return !permits(of.value, request);
    case 'orRules':
      return of.value.rules.some((each) => permits(each, request));
    case 'header': {
      const match = of.value.headerMatchSpecifier;
      if (of.value.name !== ':method' || match?.$case !== 'stringMatch') throw new Error('another header');
      return match.value.matchPattern?.value === request?.method;
    }
    case 'urlPath':
      return textFits(of.value.rule?.value.matchPattern, (request?.path ?? '').replace(/\?.*/, ''));
    default:
      throw new Error(`${of?.$case} is not known`);
  }
}

function isPrincipal({ identifier }: Principal, from: string | undefined): boolean {
  switch (identifier?.$case) {
    case 'any':
      return identifier.value;
    case 'authenticated':
      return from !== undefined && textFits(identifier.value.principalName?.matchPattern, from);
    case 'andIds':
      return identifier.value.ids.every((each) => isPrincipal(each, from));
    case 'orIds':
      return identifier.value.ids.some((each) => isPrincipal(each, from));
    case 'notId':
      return !isPrincipal(identifier.value, from);
    default:
      throw new Error(`${identifier?.$case} is not known`);
  }
}

type Pattern = NonNullable<
  Extract<NonNullable<Principal['identifier']>, { $case: 'authenticated' }>['value']['principalName']
>['matchPattern'];

function textFits(pattern: Pattern, text: string): boolean {
  switch (pattern?.$case) {
    case undefined:
      return true;
    case 'exact':
      return text === pattern.value;
    case 'prefix':
      return text.startsWith(pattern.value);
    case 'safeRegex':
      return new RegExp(`^(?:${pattern.value.regex})$`).test(text);
    default:
      throw new Error(`${pattern?.$case} is not known`);
  }
}
