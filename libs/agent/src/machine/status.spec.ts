import type { PlaneRules } from '../plane';
import { formatStatus, type AgentStatus } from './status';

const NOW = 10_000_000;
const PLANE = { type: 'serving', is: 'direct', since: NOW - 5_000 } as const;
const RULES: PlaneRules = {
  addresses: 3,
  slots: 4,
  lost: 0,
  loadedAt: NOW - 65_000,
  failure: undefined,
  refusals: 0,
  restored: 0,
  restoredAt: undefined,
};

type Proxy = AgentStatus['proxies'][number];

function textOf(plane: Proxy['plane'], given: Partial<Proxy> = {}): string {
  const proxy: Proxy = {
    type: 'dataplane',
    mesh: 'default',
    name: 'web-1',
    plane,
    services: [],
    controlPlane: { type: 'connected', address: '10.0.0.1:5678', since: NOW - 1_000 },
    cache: { resources: 1, names: 1, bytes: 10, disk: 10 },
    ...given,
  };
  const zone = { addresses: [] };
  const configuration = { problems: [], failures: [] };
  return formatStatus(
    { version: '1.2.3', pid: 7, since: NOW - 90_000, state: 'running', configuration, zone, proxies: [proxy] },
    NOW,
  );
}
const rowsOf = (text: string, title: string): readonly string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith(`  ${title} `))
    .map((line) => line.slice(title.length + 2).trim());

describe('formatStatus', () => {
  it.each<[string, Partial<PlaneRules>, string]>([
    ['what leads somewhere', {}, '3 address:port of virtual IPs lead to endpoints, loaded 1m5s ago'],
    [
      'how many services it cannot do all for',
      { lost: 2 },
      '3 address:port of virtual IPs lead to endpoints, 2 not, or not to all of theirs, loaded 1m5s ago',
    ],
    [
      'what somebody removed, and what the kernel refused',
      { restored: 2, restoredAt: NOW - 3_000, refusals: 1 },
      '3 address:port of virtual IPs lead to endpoints, loaded 1m5s ago, put back 2 times, last 3s ago, once refused by the kernel',
    ],
    [
      'why the kernel has none',
      { addresses: 0, loadedAt: undefined, failure: 'nft failed' },
      '0 address:port of virtual IPs lead to endpoints, nft failed',
    ],
  ])('has a row of the rules of a plane: %s', (_, rules, row) => {
    expect(rowsOf(textOf({ ...PLANE, rules: { ...RULES, ...rules } }), 'rules')).toEqual([row]);
  });

  it('has none where a plane has no rules', () => {
    expect(rowsOf(textOf(PLANE), 'rules')).toEqual([]);
  });

  it.each<[Partial<Proxy>, readonly string[]]>([
    [{}, []],
    [{ clientDataplane: 'web-2' }, ['programs of this machine call as Dataplane default/web-2']],
    [{ clientUsers: ['web', '1001'] }, ['programs of the users web, 1001']],
  ])('says who calls as a Dataplane, and as which one: %j', (given, rows) => {
    expect(rowsOf(textOf(PLANE, given), 'clients')).toEqual(rows);
  });

  it('names the first eight things that a plane cannot do, and counts the others', () => {
    const parts = Array.from({ length: 10 }, (_, i) => ({ name: `vip:241.0.0.${i}:80`, what: 'no' }));
    const rows = rowsOf(textOf({ ...PLANE, unobeyed: { total: 70, parts } }), 'not obeyed');
    expect(rows).toEqual([...parts.slice(0, 8).map(({ name }) => `${name}: no`), 'and 62 more']);
  });
});
