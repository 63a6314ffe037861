import { Forbidden } from '@causeway/resources';
import { silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import type { ZoneAuthentication, ZoneAuthenticator, ZoneCaller } from './zone-authenticator';
import { StreamAuthMonitor } from './stream-auth-monitor';

const DAY = 24 * 3_600_000;

/** Decides by a table that a test changes. */
class TableAuth implements ZoneAuthenticator {
  readonly until = new Map<string, number>();
  private readonly listeners = new Set<() => void>();

  async authenticate({ zone }: ZoneCaller): Promise<ZoneAuthentication> {
    const until = this.until.get(zone);
    if (until === undefined) throw new Forbidden(`not ${zone}`);
    return until === Infinity ? {} : { until };
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  change(): void {
    for (const listener of this.listeners) listener();
  }
}

/** Lets every promise that is ready be taken up. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('StreamAuthMonitor', () => {
  let clock: FakeClock;
  let auth: TableAuth;
  let live: StreamAuthMonitor;
  let ended: string[];
  const watch = (zone: string): (() => void) =>
    live.watch({ zone }, (error) => ended.push(`${zone}: ${error instanceof Error ? error.message : ''}`));

  beforeEach(() => {
    clock = new FakeClock(1_000);
    auth = new TableAuth();
    live = new StreamAuthMonitor(auth, clock, silentLogger);
    ended = [];
  });

  afterEach(() => {
    live.close();
    expect(clock.pending).toBe(0);
  });

  it('stays as long as nothing ends it', async () => {
    auth.until.set('east', Infinity);
    watch('east');
    await settled();
    expect(clock.pending).toBe(0);
    auth.change();
    await settled();
    expect(ended).toEqual([]);
  });

  it('is sent away when its time is over, each at its own time', async () => {
    auth.until.set('east', 1_000 + 40 * DAY).set('west', 6_000);
    watch('east');
    watch('west');
    await settled();
    clock.advance(4_999);
    await settled();
    expect(ended).toEqual([]);
    clock.advance(1);
    await settled();
    expect(ended).toEqual(['west: the zone token has expired']);
    clock.advance(40 * DAY - 5_001);
    await settled();
    expect(ended).toHaveLength(1);
    clock.advance(1);
    await settled();
    expect(ended[1]).toBe('east: the zone token has expired');
  });

  it('is sent away when the rules change, and only who breaks them', async () => {
    auth.until.set('east', Infinity).set('west', Infinity);
    watch('east');
    watch('west');
    await settled();
    auth.until.delete('west');
    auth.change();
    await settled();
    expect(ended).toEqual(['west: not west']);
    auth.change();
    await settled();
    expect(ended).toHaveLength(1);
  });

  it('is sent away when the rules changed while it came in', async () => {
    watch('east');
    await settled();
    expect(ended).toEqual(['east: not east']);
  });

  it('may stay longer if it is renewed before its end', async () => {
    auth.until.set('east', 6_000);
    watch('east');
    await settled();
    auth.until.set('east', 8_000);
    auth.change();
    await settled();
    clock.advance(6_000);
    await settled();
    expect(ended).toEqual([]);
    clock.advance(1_000);
    await settled();
    expect(ended).toHaveLength(1);
  });

  it('is looked after no more once it has gone', async () => {
    auth.until.set('east', 6_000);
    const gone = watch('east');
    await settled();
    gone();
    auth.until.clear();
    auth.change();
    clock.advance(10_000);
    await settled();
    expect(ended).toEqual([]);
  });
});
