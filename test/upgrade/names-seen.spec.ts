import { NamesSeen, type ShownNames } from './names-seen';

function names(services: Record<string, string>, hostnames: Record<string, string> = {}): ShownNames {
  return { services: new Map(Object.entries(services)), hostnames: new Map(Object.entries(hostnames)) };
}

describe('what the replicas of a zone have shown', () => {
  const [first, second, later] = [{ since: 0 }, { since: 0 }, { since: 20 }];
  const web = names({ 'web@east': '241.0.0.1' }, { 'web.mesh': '241.0.0.1' });
  const nothing = names({});
  const cases: readonly (readonly [string, readonly (readonly [object, ShownNames, number])[], readonly string[]])[] = [
    [
      'may be behind another replica',
      [
        [first, web, 1],
        [second, nothing, 2],
        [second, web, 3],
      ],
      [],
    ],
    [
      'stays where it was shown',
      [
        [first, web, 1],
        [first, names({ 'web@east': '241.0.0.1' }), 2],
      ],
      ['web.mesh had 241.0.0.1 and is gone'],
    ],
    [
      'is known to a replica that starts later',
      [
        [first, web, 1],
        [later, nothing, 30],
      ],
      ['web@east had 241.0.0.1 and is gone', 'web.mesh had 241.0.0.1 and is gone'],
    ],
    [
      'is not yet due where it was first shown after the start',
      [
        [first, web, 25],
        [later, nothing, 30],
      ],
      [],
    ],
    [
      'has one address on every replica',
      [
        [first, web, 1],
        [second, names({ 'web@east': '241.0.0.2' }), 2],
      ],
      ['web@east had 241.0.0.1 and has 241.0.0.2'],
    ],
    [
      'shares no address',
      [[first, names({ 'web@east': '241.0.0.1', 'cache@east': '241.0.0.1' }), 1]],
      ['cache@east and web@east both have 241.0.0.1'],
    ],
  ];
  it.each(cases)('%s', (_, steps, want) => {
    const seen = new NamesSeen();
    const broken = steps.flatMap(([replica, shown, now]) => seen.take(replica as { since: number }, shown, now));
    expect(broken).toEqual(want);
  });
});
