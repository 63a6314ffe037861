import { clashReason, compareClaims, compareGenerators, decidingRule, type ClaimRank } from './precedence';

interface Given {
  readonly here?: boolean;
  readonly byOwner?: boolean;
  readonly made?: number;
  readonly generator?: string;
  readonly born?: number;
  readonly service?: string;
  readonly zone?: string;
  readonly kind?: string;
}

function claim({
  here = false,
  byOwner = false,
  made = 5,
  generator = 'g',
  born = 5,
  service = 's',
  zone = 'east',
  kind = 'MeshService',
}: Given): ClaimRank {
  return {
    generator: {
      id: { kind: 'HostnameGenerator', mesh: '', zone: here ? 'east' : '', namespace: '', name: generator },
      madeHere: here,
      byOwner,
      creationOrder: made,
    },
    service: {
      id: { kind, mesh: 'default', zone, namespace: kind === 'MeshService' ? 'default' : '', name: service },
      creationOrder: born,
    },
  };
}

describe('precedence, one row a rule; each winner is the worse in everything that comes later (T001-18)', () => {
  test.each<[string, Given, Given, string]>([
    [
      'chosen-by-owner',
      { made: 9, generator: 'z', born: 9, service: 'z' },
      { byOwner: true, here: true, made: 1, generator: 'a', born: 1, service: 'a' },
      'clash with MeshService east/default/z: names by awsName (HostnameGenerator "a") give way to those of every other generator ("z")',
    ],
    [
      'generator-made-here',
      { here: true, made: 9, generator: 'z', born: 9, service: 'z' },
      { made: 1, generator: 'a', born: 1, service: 'a' },
      'clash with MeshService east/default/z: its generator was made in this zone',
    ],
    [
      'generator-creation-order',
      { made: 1, generator: 'z', born: 9, service: 'z' },
      { made: 2, generator: 'a', born: 1, service: 'a' },
      'clash with MeshService east/default/z: its generator "z" is older than "a"',
    ],
    [
      'generator-creation-order',
      { made: 7, generator: 'z', born: 9, service: 'z' },
      { made: 0, generator: 'a', born: 1, service: 'a' },
      'clash with MeshService east/default/z: the age of its generator "z" is known, that of "a" is not',
    ],
    [
      'generator-name',
      { made: 0, generator: 'a', born: 9, service: 'z' },
      { made: 0, generator: 'b', born: 1, service: 'a' },
      'clash with MeshService east/default/z: its generator "a" comes before "b" by name',
    ],
    [
      'service-creation-order',
      { born: 1, service: 'z' },
      { born: 2, service: 'a' },
      'clash with MeshService east/default/z: it is the older service',
    ],
    [
      'service-creation-order',
      { born: 8, service: 'z' },
      { born: 0, service: 'a' },
      'clash with MeshService east/default/z: its age is known',
    ],
    [
      'service-creation-order',
      { born: 1, service: 'z', zone: '', kind: 'MeshMultiZoneService' },
      { born: 2, service: 'a' },
      'clash with MeshMultiZoneService z: it is the older service',
    ],
    [
      'service-identity',
      { born: 0, service: 'z', zone: 'east' },
      { born: 0, service: 'a', zone: 'west' },
      'clash with MeshService east/default/z: it comes first by kind, mesh, zone, namespace and name',
    ],
    [
      'service-identity',
      { service: 'z', zone: '', kind: 'MeshExternalService' },
      { service: 'a', zone: '', kind: 'MeshService' },
      'clash with MeshExternalService z: it comes first by kind, mesh, zone, namespace and name',
    ],
  ])('%s: %j before %j', (rule, first, second, reason) => {
    const [winner, loser] = [claim(first), claim(second)];
    expect(compareClaims(winner, loser)).toBeLessThan(0);
    expect(compareClaims(loser, winner)).toBeGreaterThan(0);
    expect(decidingRule(winner, loser)).toBe(rule);
    expect(clashReason(winner, loser)).toBe(reason);
  });
});

test('a claim equals itself only', () => {
  expect(compareClaims(claim({}), claim({}))).toBe(0);
  expect(compareGenerators(claim({}).generator, claim({ service: 'x' }).generator)).toBe(0);
});
