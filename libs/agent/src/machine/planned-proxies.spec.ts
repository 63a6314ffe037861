import { checkConfig } from '../config/read-config';
import type { ChosenPlane } from './chosen-plane';
import { planProxies } from './planned-proxies';

const envoy: ChosenPlane = { type: 'envoy', program: { path: '/envoy', version: '1.0.0' } };

it.each<[string, ChosenPlane, string, { captures: readonly string[]; clients: readonly (string | undefined)[] }]>([
  ['redirect', envoy, 'redirect by Envoy', { captures: ['redirect', 'none'], clients: [undefined, 'a'] }],
  [
    'redirect',
    { type: 'builtin' },
    'redirect by the builtin plane',
    { captures: ['bind', 'none'], clients: [undefined, 'a'] },
  ],
  ['bind', { type: 'builtin' }, 'bind', { captures: ['bind', 'none'], clients: [undefined, 'a'] }],
  ['outbounds', envoy, 'outbounds of their own', { captures: ['none', 'none'], clients: [undefined, undefined] }],
  [
    'redirect',
    { type: 'direct' },
    'no certificates',
    { captures: ['translate', 'none'], clients: [undefined, undefined] },
  ],
])(
  'the first Dataplane catches the machine and its clients: %s with %j: %s',
  (capture, plane, _, { captures, clients }) => {
    const result = checkConfig({
      controlPlanes: ['10.0.0.1:5678'],
      capture,
      ...(plane.type === 'direct' && { plane: plane.type, trustedNetworks: ['10.0.0.0/8'] }),
      dataplanes: ['a', 'b'].map((name, i) => ({
        name,
        address: `10.0.0.${i + 7}`,
        services: [{ name, port: 80 }],
      })),
    });
    if (!result.ok) throw new Error(JSON.stringify(result));
    const planned = planProxies(result.config, { plane, folder: '/state', authoritiesFile: undefined });
    expect(planned.map(({ plan }) => plan.capture)).toEqual(captures);
    expect(planned.map(({ registered }) => registered?.clientDataplane)).toEqual(clients);
    expect(planned.map(({ plan }) => plan.folder)).toEqual(['/state/proxies/default.a', '/state/proxies/default.b']);
  },
);

it('Dataplanes of one name in two namespaces have folders of their own, and are called by name and namespace', () => {
  const result = checkConfig({
    controlPlanes: ['10.0.0.1:5678'],
    capture: 'bind',
    dataplanes: ['shop', 'default'].map((namespace, i) => ({ name: 'a', namespace, address: `10.0.0.${i + 7}` })),
  });
  if (!result.ok) throw new Error(JSON.stringify(result));
  const plane: ChosenPlane = { type: 'builtin' };
  const planned = planProxies(result.config, { plane, folder: '/state', authoritiesFile: undefined });
  expect(planned.map(({ plan }) => plan.folder)).toEqual(['/state/proxies/default.a.shop', '/state/proxies/default.a']);
  expect(planned.map(({ dial }) => dial.address)).toEqual(['10.0.0.7', '10.0.0.8']);
  expect(planned.map(({ registered }) => [registered?.namespace, registered?.clientDataplane])).toEqual([
    ['shop', undefined],
    ['default', 'a.shop'],
  ]);
});

it.each<[string, ChosenPlane, readonly (readonly string[])[], object]>([
  [
    'each with ports of its own by Envoy; who names nobody shares the identity of the first',
    envoy,
    [[], ['web'], []],
    {
      captures: ['redirect', 'redirect', 'none'],
      ports: [15_001, 15_021, undefined],
      clients: [undefined, undefined, 'a'],
    },
  ],
  [
    'where the first names some, nobody else has its identity',
    envoy,
    [['web'], []],
    { captures: ['redirect', 'none'], ports: [15_001, undefined], clients: [undefined, undefined] },
  ],
  [
    'nobody by the builtin plane',
    { type: 'builtin' },
    [[], ['web']],
    { captures: ['bind', 'none'], ports: [undefined, undefined], clients: [undefined, undefined] },
  ],
])('Dataplanes that name their clients catch them: %s', (_, plane, users, want) => {
  const dataplanes = users.map((all, i) => ({
    name: 'abc'[i],
    address: '10.0.0.7',
    ...(all.length > 0 && { clients: { users: all } }),
  }));
  const result = checkConfig({ controlPlanes: ['10.0.0.1:5678'], capture: 'redirect', dataplanes });
  if (!result.ok) throw new Error(JSON.stringify(result));
  const planned = planProxies(result.config, { plane, folder: '/state', authoritiesFile: undefined });
  expect({
    captures: planned.map(({ plan }) => plan.capture),
    ports: planned.map(({ plan }) => plan.redirect?.port),
    clients: planned.map(({ registered }) => registered?.clientDataplane),
  }).toEqual(want);
});
