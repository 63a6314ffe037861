import { Conflict } from '@causeway/resources';
import fc from 'fast-check';
import { decodeAuthorityState, type StoredAuthority } from './authority-decode';
import {
  abandonRotation,
  advanceRotation,
  allowValidity,
  beginRotation,
  SIGNING_SLACK,
  steadyState,
  type AuthorityState,
} from './authority-rotation';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function authority(id: string, longestValidity = DAY): StoredAuthority {
  return { id, longestValidity, certificate: `certificate ${id}`, key: { keyId: 'k', nonce: 'n', sealed: 's' } };
}

describe('a rotation', () => {
  const begun = beginRotation(steadyState(authority('a')), authority('b'), { now: 0, deadline: HOUR });

  it('trusts the new authority, uses it when all have acked, drops the old one after its last certificate', () => {
    expect(begun.authorities.map(({ id }) => id)).toEqual(['a', 'b']);
    expect(begun.signing).toBe('a');
    expect(advanceRotation(begun, { now: HOUR - 1, missing: ['p'] })).toBe(begun);
    const used = advanceRotation(begun, { now: 5, missing: [] });
    expect(used).toMatchObject({ signing: 'b', step: { type: 'retiring', old: 'a', usedBy: 'acks', missing: [] } });
    const end = 5 + DAY + SIGNING_SLACK;
    expect(advanceRotation(used, { now: end - 1, missing: ['p'], force: true })).toBe(used);
    const done = advanceRotation(used, { now: end, missing: ['p'] });
    expect(done).toEqual(steadyState(authority('b')));
    expect(advanceRotation(done, { now: end + DAY, missing: [], force: true })).toBe(done);
  });

  it.each([
    ['the deadline', { now: HOUR, missing: ['p', 'q'] }, 'deadline'],
    ['force', { now: 1, missing: ['p', 'q'], force: true }, 'force'],
  ] as const)('goes on by %s and names who had not acked', (_, evidence, usedBy) => {
    expect(advanceRotation(begun, evidence).step).toMatchObject({ usedBy, missing: ['p', 'q'] });
  });

  it('names at most a hundred', () => {
    const missing = Array.from({ length: 5_000 }, (_, i) => `proxy-${i}`);
    const { step } = advanceRotation(begun, { now: HOUR, missing });
    expect(step.type === 'retiring' && step.missing).toHaveLength(100);
  });

  it('is one at a time, and is given up only before the new authority is used', () => {
    expect(() => beginRotation(begun, authority('c'), { now: 0, deadline: 1 })).toThrow(Conflict);
    expect(abandonRotation(begun)).toEqual(steadyState(authority('a')));
    expect(() => abandonRotation(steadyState(authority('a')))).toThrow(Conflict);
    expect(() => abandonRotation(advanceRotation(begun, { now: 1, missing: [] }))).toThrow(Conflict);
  });

  it('lets validity grow, but for an authority whose end is fixed', () => {
    const used = advanceRotation(begun, { now: 5, missing: [] });
    expect(allowValidity(used, HOUR)).toBe(used);
    expect(allowValidity(used, 2 * DAY).authorities.map(({ longestValidity }) => longestValidity)).toEqual([
      DAY,
      2 * DAY,
    ]);
    expect(allowValidity(begun, 2 * DAY).authorities.map(({ longestValidity }) => longestValidity)).toEqual([
      2 * DAY,
      2 * DAY,
    ]);
  });
});

type Event =
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'begin'; readonly patience: number }
  | { readonly type: 'advance'; readonly missing: boolean; readonly force: boolean }
  | { readonly type: 'abandon' }
  | { readonly type: 'validity'; readonly ms: number }
  /** A replica signs by a state that it read some time ago. */
  | { readonly type: 'sign'; readonly age: number; readonly validity: number };

const event = fc.oneof<fc.Arbitrary<Event>[]>(
  fc.record({ type: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: DAY }) }),
  fc.record({ type: fc.constant('begin' as const), patience: fc.integer({ min: 0, max: DAY }) }),
  fc.record({ type: fc.constant('advance' as const), missing: fc.boolean(), force: fc.boolean() }),
  fc.constant<Event>({ type: 'abandon' }),
  fc.record({ type: fc.constant('validity' as const), ms: fc.integer({ min: 1_000, max: 3 * DAY }) }),
  fc.record({
    type: fc.constant('sign' as const),
    age: fc.integer({ min: 0, max: SIGNING_SLACK }),
    validity: fc.integer({ min: 1_000, max: 4 * DAY }),
  }),
);

/** Runs a history, a crash after every step: the state goes through its stored form each time. */
function replay(events: readonly Event[]): void {
  let now = 1_000_000_000;
  let made = 0;
  let state: AuthorityState<StoredAuthority> = steadyState(authority('0', HOUR));
  let states = [{ at: now, state }];
  let certificates: { readonly by: string; readonly end: number }[] = [];
  const attempt = (change: () => AuthorityState<StoredAuthority>): void => {
    try {
      const read = decodeAuthorityState(JSON.parse(JSON.stringify({ version: 1, ...change() })));
      if (!read) throw new Error('a state does not survive its store');
      state = read;
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
    }
  };
  for (const one of events) {
    const before = state;
    if (one.type === 'wait') now += one.ms;
    else if (one.type === 'begin') {
      attempt(() => beginRotation(state, authority(String(++made), HOUR), { now, deadline: now + one.patience }));
    } else if (one.type === 'advance') {
      attempt(() => advanceRotation(state, { now, missing: one.missing ? ['p'] : [], force: one.force }));
    } else if (one.type === 'abandon') attempt(() => abandonRotation(state));
    else if (one.type === 'validity') attempt(() => allowValidity(state, one.ms));
    else {
      const read = [...states].reverse().find(({ at }) => at <= now - one.age)?.state ?? state;
      const signer = read.authorities.find(({ id }) => id === read.signing);
      const end = now - one.age + Math.min(one.validity, signer?.longestValidity ?? 0);
      certificates.push({ by: read.signing, end });
    }
    states.push({ at: now, state });
    states = states.filter(({ at }, i) => at >= now - SIGNING_SLACK || i >= states.length - 2);
    certificates = certificates.filter(({ end }) => end > now);
    const trusted = new Set(state.authorities.map(({ id }) => id));
    expect(trusted.size).toBe(state.authorities.length);
    expect(trusted.size).toBe(state.step.type === 'steady' ? 1 : 2);
    expect(trusted.has(state.signing)).toBe(true);
    // A certificate is believed as long as it is valid.
    for (const { by } of certificates) expect(trusted).toContain(by);
    // The signing authority was trusted one step earlier.
    expect(before.authorities.map(({ id }) => id)).toContain(state.signing);
  }
}

it('no history of rotations leaves a valid certificate without its authority', () => {
  fc.assert(fc.property(fc.array(event, { maxLength: 60 }), replay), { numRuns: 500 });
});
