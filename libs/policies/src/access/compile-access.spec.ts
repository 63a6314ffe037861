import { AccessPolicy, type AccessSpec } from '../shipped/access-policy';
import { mayBeAnonymous, mayCall, type AccessRequest } from './access-rules';
import { compileAccess, namespacesAsked, type CallerFacts, type IdBearer } from './compile-access';

const EAST = 'default.east.mesh.local';
const id = (workload: string, domain = EAST): string => `spiffe://${domain}/workload/${workload}`;
const BEARERS: Readonly<Record<string, readonly IdBearer[]>> = {
  [id('web')]: [{ namespace: 'shop' }, { namespace: 'shop', service: 'web' }],
  [id('job')]: [{ namespace: 'shop' }],
  [id('dev')]: [{ namespace: 'dev' }, { namespace: 'dev', service: 'tool' }],
  [id('both')]: [{ namespace: 'shop', service: 'web' }, { namespace: 'dev' }],
};
const facts: CallerFacts = {
  ids: () => Object.keys(BEARERS),
  idsIn: (namespace) => Object.keys(BEARERS).filter((each) => BEARERS[each]?.some((b) => b.namespace === namespace)),
  listBearers: (each) => BEARERS[each] ?? [],
  listDomains: (zone) => {
    const sure = [`default.${zone}.mesh.local`];
    return { sure, possible: [...sure, 'shared.example'] };
  },
  changing: () => [],
};
const GET: AccessRequest = { method: 'GET', path: '/' };
const rule = (...from: readonly object[]) => ({ from: [...from] });
const callers = {
  web: id('web'),
  job: id('job'),
  dev: id('dev'),
  both: id('both'),
  unknown: id('unknown'),
  west: id('web', 'default.west.mesh.local'),
  shared: id('web', 'shared.example'),
  nobody: undefined,
};

function allowed(spec: AccessSpec, defaultAccess: 'Allow' | 'Deny', request: AccessRequest | undefined = GET) {
  const rules = compileAccess(spec, defaultAccess, facts);
  return Object.entries(callers).flatMap(([name, caller]) => (mayCall(rules, caller, request).isAllowed ? [name] : []));
}
const all = Object.keys(callers);

describe('who may call', () => {
  it.each<[string, AccessSpec, readonly string[]]>([
    ['no rule: everybody', {}, all],
    ['allow without rules: nobody', { allow: {} }, []],
    ['an allow without from: everybody', { allow: { any: {} } }, all],
    ['an exact id', { allow: { a: rule({ spiffeId: { type: 'Exact', value: id('web') } }) } }, ['web']],
    [
      'whole elements of an id',
      { allow: { a: rule({ spiffeId: { type: 'Prefix', value: `spiffe://${EAST}/workload/we` } }) } },
      [],
    ],
    [
      'a prefix of ids',
      { allow: { a: rule({ spiffeId: { type: 'Prefix', value: `spiffe://${EAST}/workload` } }) } },
      ['web', 'job', 'dev', 'both', 'unknown'],
    ],
    ['a namespace: ids that are surely there', { allow: { a: rule({ namespace: 'shop' }) } }, ['web', 'job']],
    ['a service', { allow: { a: rule({ service: { namespace: 'shop', name: 'web' } }) } }, ['web']],
    ['a zone: trust domains that are surely its own', { allow: { a: rule({ zone: 'west' }) } }, ['west']],
    ['several entries', { allow: { a: rule({ namespace: 'dev' }, { zone: 'west' }) } }, ['dev', 'west']],
    ['all that an entry names', { allow: { a: rule({ namespace: 'shop', zone: 'west' }) } }, []],
    [
      'a service of another namespace than the entry: nobody',
      { allow: { a: rule({ namespace: 'dev', service: { namespace: 'shop', name: 'web' } }) } },
      [],
    ],
    [
      'denied by id; who shows none may be the one',
      { deny: { a: rule({ spiffeId: { type: 'Exact', value: id('web') } }) } },
      ['job', 'dev', 'both', 'unknown', 'west', 'shared'],
    ],
    [
      'denied by namespace: all but ids that are surely elsewhere',
      { deny: { a: rule({ namespace: 'dev' }) } },
      ['web', 'job'],
    ],
    [
      'denied by service: instances of no known service may be its own',
      { deny: { a: rule({ service: { namespace: 'shop', name: 'web' } }) } },
      ['dev'],
    ],
    ['denied by zone', { deny: { a: rule({ zone: 'west' }) } }, ['web', 'job', 'dev', 'both', 'unknown']],
    [
      'deny wins',
      {
        allow: { a: rule({ namespace: 'shop' }) },
        deny: { b: rule({ spiffeId: { type: 'Exact', value: id('job') } }) },
      },
      ['web'],
    ],
    ['a deny without from: nobody', { allow: { any: {} }, deny: { all: {} } }, []],
  ])('by %s', (_, spec, want) => {
    expect(AccessPolicy.read(spec)).toBe(spec);
    expect(allowed(spec, 'Allow')).toEqual(want);
    expect(allowed(spec, 'Deny')).toEqual(spec.allow ? want : []);
  });

  it.each<[string, AccessRequest, boolean, boolean]>([
    ['the method and path', { method: 'GET', path: '/api/x?y=1' }, true, false],
    ['the prefix itself', { method: 'GET', path: '/api' }, true, false],
    ['half an element', { method: 'GET', path: '/apis' }, false, true],
    ['another method', { method: 'POST', path: '/api/x' }, false, true],
    ['a path that leads out', { method: 'GET', path: '/api/../x' }, false, true],
    ['a path that leads in', { method: 'GET', path: '/x/../api' }, true, false],
    ['an empty element', { method: 'GET', path: '//api' }, false, false],
    ['an escaped letter', { method: 'GET', path: '/%61pi' }, false, false],
    ['an escaped slash', { method: 'GET', path: '/api%2Fx' }, false, false],
    ['an overlong slash', { method: 'GET', path: '/api/%c0%afx' }, false, false],
    ['an overlong letter', { method: 'GET', path: '/%E0%81%A1pi' }, false, false],
    ['a character cut short', { method: 'GET', path: '/api/%c3x' }, false, false],
    ['a tail alone', { method: 'GET', path: '/api/%a9' }, false, false],
    ['no escape', { method: 'GET', path: '/api/%zz' }, false, false],
    ['a character beyond ASCII', { method: 'GET', path: '/api/%C3%A9%e2%82%ac%20%f0%9f%98%80' }, true, false],
    ['parameters of an element', { method: 'GET', path: '/api;v=1/x' }, false, false],
    ['an escaped space', { method: 'GET', path: '/api/a%20b' }, true, false],
  ])('by requests: %s', (_, request, isAllowed, isNotDenied) => {
    const to = [{ methods: ['GET'], paths: [{ type: 'PathPrefix' as const, value: '/api/' }] }];
    const judge = (spec: AccessSpec): boolean =>
      mayCall(compileAccess(spec, 'Allow', facts), callers.web, request).isAllowed;
    expect([judge({ allow: { a: { to } } }), judge({ deny: { a: { to } } })]).toEqual([isAllowed, isNotDenied]);
  });

  it('where requests are not seen, rules with `to` allow nobody and refuse all', () => {
    const to = [{ methods: ['GET'] }];
    const judge = (spec: AccessSpec) => mayCall(compileAccess(spec, 'Allow', facts), callers.web, undefined).isAllowed;
    expect([judge({ allow: { a: { to } } }), judge({ deny: { a: { to } } })]).toEqual([false, false]);
    expect(AccessPolicy.unsupported('builtin', { allow: { a: { to } }, deny: { b: { to } } })).toMatchObject([
      { field: '/deny/b/to' },
      { field: '/allow/a/to' },
    ]);
  });

  it('a spec that cannot be read refuses everybody', () => {
    const rules = compileAccess(AccessPolicy.read({ allow: [] }), 'Allow', facts);
    expect(mayCall(rules, callers.web, GET)).toEqual({ isAllowed: false, by: 'deny/unreadable' });
    expect(mayBeAnonymous(rules)).toBe(false);
  });

  it('says by which rule', () => {
    const rules = compileAccess({ allow: { a: rule({ zone: 'east' }) } }, 'Allow', facts);
    expect([mayCall(rules, callers.web, GET).by, mayCall(rules, callers.west, GET).by]).toEqual(['allow/a', 'allow']);
  });

  describe('while the form of ids changes', () => {
    const inNamespace = (namespace: string, workload: string): string =>
      `spiffe://${EAST}/ns/${namespace}/workload/${workload}`;
    const bearers: Readonly<Record<string, readonly IdBearer[]>> = {
      [id('web')]: [{ namespace: 'shop' }, { namespace: 'shop', service: 'web' }],
      [inNamespace('shop', 'web')]: [{ namespace: 'shop' }, { namespace: 'shop', service: 'web' }],
      [id('both')]: [{ namespace: 'shop' }, { namespace: 'dev' }],
      [inNamespace('shop', 'both')]: [{ namespace: 'shop' }],
      [inNamespace('dev', 'both')]: [{ namespace: 'dev' }],
    };
    const changing: CallerFacts = {
      ids: () => Object.keys(bearers),
      idsIn: (namespace) =>
        Object.keys(bearers).filter((each) => bearers[each]?.some((b) => b.namespace === namespace)),
      listBearers: (each) => bearers[each] ?? [],
      listDomains: facts.listDomains,
      changing: () => [{ domains: [EAST], namespaces: ['dev', 'shop'] }],
    };
    const shown = [
      id('web'),
      inNamespace('shop', 'web'),
      id('both'),
      inNamespace('shop', 'both'),
      inNamespace('dev', 'both'),
      id('job'),
      inNamespace('shop', 'job'),
      id('web', 'default.west.mesh.local'),
    ];
    const [web, webIn, both, bothInShop, bothInDev, job, jobIn, west] = shown;
    const id2 = (type: 'Exact' | 'Prefix', value: string) => ({ spiffeId: { type, value } });

    it.each<[string, object, readonly (string | undefined)[], readonly (string | undefined)[]]>([
      ['an id without a namespace is all that had it', id2('Exact', id('both')), [both, bothInShop, bothInDev], []],
      ['of a caller that is known nowhere else', id2('Exact', id('job')), [job, jobIn], []],
      ['an id with a namespace is the one of before', id2('Exact', inNamespace('shop', 'web')), [web, webIn], []],
      ['not where others have that one', id2('Exact', inNamespace('shop', 'both')), [bothInShop], [both]],
      ['nor where nobody is known to have it', id2('Exact', inNamespace('shop', 'job')), [jobIn], [job]],
      ['a namespace takes both forms', { namespace: 'shop' }, [web, webIn, bothInShop], [both, job, jobIn, west]],
      [
        'all workloads of a trust domain',
        id2('Prefix', `spiffe://${EAST}/workload`),
        [web, webIn, both, bothInShop, bothInDev, job, jobIn],
        [],
      ],
      [
        'all of a namespace by their path',
        id2('Prefix', `spiffe://${EAST}/ns/shop/`),
        [web, webIn, bothInShop, jobIn],
        [both, job],
      ],
    ])('%s', (_, from, want, refusedToo) => {
      const allowed = (spec: AccessSpec): readonly string[] =>
        shown.filter((each) => mayCall(compileAccess(spec, 'Allow', changing), each, GET).isAllowed);
      expect(allowed({ allow: { a: rule(from) } })).toEqual(shown.filter((each) => want.includes(each)));
      const refused = [...want, ...refusedToo];
      expect(allowed({ deny: { a: rule(from) } })).toEqual(shown.filter((each) => !refused.includes(each)));
    });
  });

  it.each<[AccessSpec, readonly string[] | 'all']>([
    [{ allow: { a: rule({ spiffeId: { type: 'Exact', value: `spiffe://${EAST}/ns/shop/workload/a` } }) } }, ['shop']],
    [{ allow: { a: rule({ spiffeId: { type: 'Prefix', value: `spiffe://${EAST}/ns/` } }) } }, 'all'],
    [{ allow: { a: rule({ spiffeId: { type: 'Prefix', value: `spiffe://${EAST}/nsx` } }) } }, []],
    [{ allow: { a: rule({ zone: 'east' }) } }, []],
    [{ allow: { a: rule({ namespace: 'dev' }, { service: { namespace: 'shop', name: 'web' } }) } }, ['dev', 'shop']],
    [{ deny: { a: rule({ namespace: 'dev' }) } }, 'all'],
    [{ allow: { a: {} } }, []],
  ])('changes with the ids of the namespaces that are named: %j', (spec, want) => {
    const asked = namespacesAsked(spec);
    expect(asked === 'all' ? asked : [...asked]).toEqual(want);
  });
});

describe('the schema of an AccessPolicy', () => {
  it.each<[string, object]>([
    ['a path with an escape', { allow: { a: { to: [{ paths: [{ type: 'Exact', value: '/a%20b' }] }] } } }],
    ['a path with ".."', { allow: { a: { to: [{ paths: [{ type: 'Exact', value: '/a/..' }] }] } } }],
    ['an empty entry', { allow: { a: { from: [{}] } } }],
    ['no entries', { deny: { a: { from: [] } } }],
    ['half a trust domain', { deny: { a: rule({ spiffeId: { type: 'Prefix', value: 'spiffe://default' } }) } }],
    ['a name of a rule with capitals', { deny: { A: {} } }],
    ['what is no field', { deny: { a: { form: [] } } }],
  ])('refuses %s', (_, spec) => {
    expect(AccessPolicy.read(JSON.parse(JSON.stringify(spec)))).toBeUndefined();
  });
});
