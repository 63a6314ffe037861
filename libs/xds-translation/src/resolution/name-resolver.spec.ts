import { DEFAULT_DIAL_RULES } from '@causeway/ipam';
import { FakeClock } from '@causeway/runtime/testing';
import { DialledHosts } from './dialled-hosts';
import { NameResolver, type NameAnswer, type ResolverLimits } from './name-resolver';

const settled = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await Promise.resolve();
};

/** A resolver over answers that the test gives; a name without one is not answered. */
class Answers {
  readonly clock = new FakeClock();
  readonly asked: string[] = [];
  readonly given = new Map<string, NameAnswer | Error>();
  readonly changes: string[] = [];
  underWay = 0;
  most = 0;
  readonly resolver: NameResolver;

  constructor(limits: Partial<ResolverLimits> = {}) {
    const lookup = (name: string): Promise<NameAnswer> => this.lookup(name);
    this.resolver = new NameResolver({ lookup }, this.clock, limits);
    this.resolver.subscribe((name) => this.changes.push(name));
  }

  give(name: string, addresses: readonly string[], ttl = 10_000): void {
    this.given.set(name, { addresses, ttl });
  }

  async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    await settled();
  }

  private async lookup(name: string): Promise<NameAnswer> {
    this.asked.push(name);
    this.underWay += 1;
    this.most = Math.max(this.most, this.underWay);
    const answer = this.given.get(name);
    try {
      if (answer === undefined) return await new Promise<never>(() => undefined);
      await Promise.resolve();
      if (answer instanceof Error) throw answer;
      return answer;
    } finally {
      this.underWay -= 1;
    }
  }
}

describe('names that are resolved again and again', () => {
  it('have the addresses of the last answer, sorted, each once', async () => {
    const of = new Answers();
    of.give('a.example', ['10.0.0.2', '10.0.0.1', '10.0.0.2']);
    of.resolver.keep(['a.example']);
    expect(of.resolver.of('a.example')).toEqual({ addresses: [], failure: 'is not resolved yet', isPending: true });
    await of.resolver.ready(['a.example']);
    expect(of.resolver.of('a.example')).toEqual({ addresses: ['10.0.0.1', '10.0.0.2'] });
    of.give('a.example', ['10.0.0.3']);
    await of.pass(10_000);
    expect(of.resolver.of('a.example')).toEqual({ addresses: ['10.0.0.3'] });
    await of.pass(10_000);
    expect([of.asked.length, of.changes]).toEqual([3, ['a.example', 'a.example']]);
  });

  it.each([
    ['its TTL', 20_000, 20_000],
    ['no TTL: the floor', 0, 5_000],
    ['a TTL of a week: the ceiling', 604_800_000, 300_000],
  ])('are asked for again after %s', async (_, ttl, pause) => {
    const of = new Answers();
    of.give('a.example', ['10.0.0.1'], ttl);
    of.resolver.keep(['a.example']);
    await settled();
    await of.pass(pause - 1);
    expect(of.asked).toHaveLength(1);
    await of.pass(1);
    expect(of.asked).toHaveLength(2);
  });

  it('keep their addresses while nobody answers, are asked for again with longer pauses, and lose them when an answer says so', async () => {
    const of = new Answers();
    of.give('a.example', ['10.0.0.1'], 5_000);
    of.resolver.keep(['a.example']);
    await settled();
    of.given.set('a.example', new Error('queryA ESERVFAIL a.example'));
    await of.pass(5_000);
    const failure = 'is not answered: queryA ESERVFAIL a.example';
    expect(of.resolver.of('a.example')).toEqual({ addresses: ['10.0.0.1'], failure });
    for (const pause of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      const before = of.asked.length;
      await of.pass(pause - 1);
      expect(of.asked).toHaveLength(before);
      await of.pass(1);
      expect(of.asked).toHaveLength(before + 1);
    }
    of.give('a.example', []);
    await of.pass(30_000);
    expect(of.resolver.of('a.example')).toEqual({ addresses: [], failure: 'has no address' });
  });

  it('that nobody answers are given up after a while, and the next ones have their turn', async () => {
    const of = new Answers({ atOnce: 1 });
    of.give('b.example', ['10.0.0.1']);
    of.resolver.keep(['a.example', 'b.example']);
    let isReady = false;
    void of.resolver.ready(['a.example']).then(() => (isReady = true));
    await settled();
    expect([isReady, of.asked]).toEqual([false, ['a.example']]);
    await of.pass(5_000);
    expect(isReady).toBe(true);
    expect(of.resolver.of('a.example').failure).toBe('is not answered: no answer within 5000 ms');
    expect(of.resolver.of('b.example').addresses).toEqual(['10.0.0.1']);
  });

  it('are bounded: names, questions at once and in a second, addresses', async () => {
    const of = new Answers({ names: 1_000, atOnce: 8, perSecond: 10, addresses: 3 });
    const names = Array.from({ length: 1_500 }, (_, i) => `n${i}.example`);
    const addresses = Array.from({ length: 9 }, (_, i) => `10.0.0.${i}`);
    for (const name of names) of.give(name, addresses, 0);
    of.resolver.keep(names);
    await of.resolver.ready(names);
    expect([of.resolver.size, of.most, of.asked.length]).toEqual([1_000, 8, 1_000]);
    expect(of.resolver.of('n1.example').addresses).toEqual(['10.0.0.0', '10.0.0.1', '10.0.0.2']);
    expect(of.resolver.of('n1400.example').failure).toBe('is beyond the 1000 names that are resolved');
    await of.pass(99_999);
    expect(of.asked).toHaveLength(1_000);
  });

  it('that are in use no longer are not asked for, nor known', async () => {
    const of = new Answers();
    of.give('a.example', ['10.0.0.1']);
    of.resolver.keep(['a.example']);
    await settled();
    of.resolver.keep([]);
    await of.pass(1_000_000);
    expect([of.asked.length, of.resolver.size, of.clock.pending]).toEqual([1, 0, 0]);
    of.resolver.keep(['a.example']);
    of.resolver.close();
    await of.pass(1_000_000);
    expect([of.resolver.size, of.clock.pending]).toEqual([0, 0]);
  });
});

describe('hosts as they may be dialled', () => {
  it('lose the addresses that may not, at each answer anew: a name that leads to loopback later has none', async () => {
    const of = new Answers();
    const hosts = new DialledHosts(DEFAULT_DIAL_RULES, of.resolver);
    of.give('a.example', ['203.0.113.7', '203.0.113.8']);
    hosts.keep(['a.example']);
    await of.resolver.ready(['a.example']);
    expect(hosts.resolve('a.example')).toEqual({ addresses: ['203.0.113.7', '203.0.113.8'], refused: [] });
    of.give('a.example', ['203.0.113.7', '127.0.0.1']);
    await of.pass(10_000);
    expect(hosts.resolve('a.example')).toEqual({ addresses: ['203.0.113.7'], refused: ['127.0.0.1'] });
    of.give('a.example', ['::ffff:169.254.169.254']);
    await of.pass(10_000);
    expect(hosts.resolve('a.example')).toEqual({ addresses: [], refused: ['::ffff:169.254.169.254'] });
  });

  it('that are addresses are checked too', () => {
    const hosts = new DialledHosts(DEFAULT_DIAL_RULES);
    expect(hosts.resolve('203.0.113.7')).toEqual({ addresses: ['203.0.113.7'], refused: [] });
    expect(hosts.resolve('127.0.0.1')).toEqual({ addresses: [], refused: ['127.0.0.1'] });
    expect(hosts.resolve('127.1')).toEqual({ addresses: [], refused: [], failure: 'names are not resolved here' });
  });
});
