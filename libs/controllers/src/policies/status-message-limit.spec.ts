import { StatusMessageLimit } from './status-message-limit';

const status = (message: string, is = 'True'): { conditions: { type: string; status: string; message: string }[] } => ({
  conditions: [{ type: 'Enforced', status: is, message }],
});

describe('how often the messages of a status are written', () => {
  const limit = new StatusMessageLimit();
  const count = (n: number, now: number, key = 'p'): number | undefined =>
    limit.dueAt(key, status(`in ${n} scopes`), status(`in ${n + 1} scopes`), now);

  it('some at once, then one each ten seconds; what a condition says never waits, nor does another policy', () => {
    expect(Array.from({ length: 10 }, (_, n) => count(n, 1_000 + n))).toEqual(Array(10).fill(undefined));
    expect([count(10, 1_020), count(10, 10_999)]).toEqual([11_000, 11_000]);
    expect(limit.dueAt('p', status('in 9 scopes'), status('in 10 scopes', 'False'), 1_020)).toBeUndefined();
    expect(limit.dueAt('p', undefined, status('in 10 scopes'), 1_020)).toBeUndefined();
    expect(count(0, 1_020, 'q')).toBeUndefined();
    expect([count(10, 11_000), count(11, 11_001)]).toEqual([undefined, 21_000]);
    expect(Array.from({ length: 4 }, (_, n) => count(n, 41_500))).toEqual([undefined, undefined, undefined, 51_000]);
  });
});
