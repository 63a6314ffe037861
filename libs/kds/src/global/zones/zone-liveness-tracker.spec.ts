import { globalIdentity, type JsonObject, type Resource } from '@causeway/resources';
import { FakeClock } from '@causeway/runtime/testing';
import type { LostRule, LostRules, ZoneLoss, ZoneSession } from '@causeway/sync';
import { ZoneLivenessTracker } from './zone-liveness-tracker';

const RULE: LostRule = { policy: 'withdraw', after: 10_000 };
const RULES: LostRules = { zone: RULE, meshes: new Map() };
const ROUND = 5_000;

/** A clock whose date jumps, as when a machine's time is set. */
class JumpingClock extends FakeClock {
  jumped = 0;

  override now(): number {
    return super.now() + this.jumped;
  }
}

function zone(lost?: ZoneLoss, session: ZoneSession = {}): Resource {
  return {
    id: globalIdentity('Zone', 'east'),
    uid: 'u',
    labels: {},
    spec: {},
    status: { ...session, ...(lost && { lost: { ...lost } }) },
    generation: 1,
    creationOrder: 0,
    createdAt: 0,
    modifiedAt: 0,
    revision: 1,
    origin: { incarnation: '', revision: 0, committedAt: 0 },
    freed: [],
  };
}

describe('ZoneLivenessTracker', () => {
  let clock: JumpingClock;
  let tracker: ZoneLivenessTracker;
  let lost: ZoneLoss | undefined;
  let session: ZoneSession;
  beforeEach(() => {
    clock = new JumpingClock(1_000_000);
    tracker = new ZoneLivenessTracker(clock);
    lost = undefined;
    session = {};
  });

  /** Rounds of a keeper, each of which finds this insight of the zone, and its session. */
  const rounds = async (
    count: number,
    insight: (round: number) => JsonObject | undefined,
    opened?: number,
  ): Promise<void> => {
    for (let round = 0; round < count; round++) {
      clock.advance(ROUND);
      const value = insight(round);
      const insights = value ? [{ key: 'east', value }] : [];
      const sessions = opened === undefined ? [] : [{ zone: 'east', up: opened, down: opened }];
      await tracker.refresh(() => Promise.resolve({ insights, sessions }));
      session = tracker.toSession(zone(lost, session));
      lost = tracker.findLoss(zone(lost), RULES);
    }
  };
  /** Renewed by a replica whose clock is off by `skew`, ms. */
  const renewed =
    (skew: number) =>
    (round: number): JsonObject => ({ health: 'Online', globalInstanceId: 'b', renewedAt: skew + round * ROUND });
  const stands = (health: string) => (): JsonObject => ({ health, globalInstanceId: 'b', renewedAt: 1 });

  it.each([-86_400_000, 0, 86_400_000])(
    'I5 a zone is there as long as its insight is renewed, by a clock off by %d ms',
    async (skew) => {
      await rounds(20, renewed(skew));
      expect(lost).toBeUndefined();
    },
  );

  it('I5 a jump of the own clock ends no time early', async () => {
    await rounds(3, renewed(0));
    await rounds(1, stands('Offline'));
    clock.jumped = 3_600_000;
    await rounds(1, stands('Offline'));
    expect(lost).toBeUndefined();
    await rounds(1, stands('Offline'));
    expect(lost).toMatchObject({ policy: 'withdraw' });
  });

  it('what is lost stays so when the own clock jumps back', async () => {
    await rounds(3, stands('Offline'));
    const before = lost;
    expect(before).toBeDefined();
    clock.jumped = -3_600_000;
    await rounds(1, stands('Offline'));
    expect(lost).toEqual(before);
  });

  it('what is lost stays so under a next leader whose clock is behind', async () => {
    lost = { policy: 'withdraw', since: new Date(clock.now() + 3_600_000).toISOString() };
    const before = lost;
    await rounds(4, stands('Offline'));
    expect(lost).toEqual(before);
  });

  it('a zone is lost when nobody has renewed its insight for long', async () => {
    await rounds(3, renewed(0));
    await rounds(8, stands('Online'));
    expect(lost).toBeUndefined();
    await rounds(1, stands('Online'));
    expect(lost).toBeDefined();
  });

  it('I10 an insight of before the term brings no lost zone back, a new one does', async () => {
    lost = { policy: 'withdraw', since: new Date(0).toISOString() };
    await rounds(2, stands('Online'));
    expect(lost).toEqual({ policy: 'withdraw', since: new Date(0).toISOString() });
    await rounds(1, renewed(7));
    expect(lost).toBeUndefined();
  });

  it('a Zone says so one round after its session has ended, and until there is a new one', async () => {
    await rounds(3, (round) => ({ ...renewed(0)(round), peer: 'causeway' }));
    expect(session).toEqual({ peer: 'causeway' });
    await rounds(1, stands('Offline'));
    expect(session).toEqual({ peer: 'causeway' });
    const ended = new Date(clock.now()).toISOString();
    await rounds(5, stands('Offline'));
    expect(session).toEqual({ peer: 'causeway', disconnectedSince: ended });
    await rounds(1, (round) => ({ ...renewed(9)(round), peer: 'causeway' }));
    expect(session).toEqual({ peer: 'causeway' });
  });

  it('a next leader says what the former one said, until it has seen a newer session', async () => {
    await rounds(2, stands('Offline'));
    const before = session;
    expect(before.disconnectedSince).toBeDefined();
    tracker = new ZoneLivenessTracker(clock);
    await rounds(3, stands('Online'));
    expect(session).toEqual(before);
    await rounds(2, renewed(7));
    expect(session.disconnectedSince).toBeUndefined();
  });

  it('a frozen replica: a Zone says so once nobody has renewed its insight for long', async () => {
    await rounds(8, stands('Online'));
    expect(session.disconnectedSince).toBeUndefined();
    await rounds(1, stands('Online'));
    expect(session.disconnectedSince).toBeDefined();
  });

  it('a Zone that never had a session says nothing', async () => {
    await rounds(20, () => undefined);
    expect(session).toEqual({});
  });

  const none = (): undefined => undefined;

  it('a zone that went away between its handshake and its first stream is lost, under the next leader too', async () => {
    await rounds(2, none, 7);
    expect(lost).toBeUndefined();
    await rounds(1, none, 7);
    const before = lost;
    expect(before).toMatchObject({ policy: 'withdraw' });
    tracker = new ZoneLivenessTracker(clock);
    await rounds(4, none, 7);
    expect(lost).toEqual(before);
  });

  it('a zone that shakes hands again begins its time anew', async () => {
    await rounds(2, none, 7);
    await rounds(2, none, 8);
    expect(lost).toBeUndefined();
    await rounds(1, none, 8);
    expect(lost).toBeDefined();
  });

  it('a deleted zone of which nothing is left was never seen', async () => {
    await rounds(2, renewed(0), 7);
    await rounds(1, none);
    await rounds(10, none);
    expect(lost).toBeUndefined();
  });

  it('an insight of before the deletion counts for no later zone of the name', async () => {
    await rounds(2, stands('Offline'), 7);
    await rounds(2, none, 8);
    expect(lost).toBeUndefined();
  });
});
