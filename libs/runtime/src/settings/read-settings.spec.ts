import { count, duration, flag, oneOf, optional, port, readSettings, secret, text } from '../index';

const settings = {
  DATABASE_URL: secret(text()),
  CAUSEWAY_REST_PORT: port(5681),
  CAUSEWAY_LEADER_LEASE: duration('3s'),
  CAUSEWAY_KDS_AUTH: oneOf(['token', 'none'], 'token'),
  CAUSEWAY_GLOBAL_ADDRESS: optional(text()),
  CAUSEWAY_SKIP: flag(false),
  CAUSEWAY_COUNT: count(3, 1),
};

describe('readSettings', () => {
  it('takes the environment before the file before the fallback', () => {
    const read = readSettings(settings, {
      env: { DATABASE_URL: 'postgres://x', CAUSEWAY_REST_PORT: '0', HOME: '/root' },
      file: { restPort: 7000, leaderLease: '200ms' },
    });
    expect(read).toMatchObject({
      ok: true,
      values: { CAUSEWAY_REST_PORT: 0, CAUSEWAY_LEADER_LEASE: 200, CAUSEWAY_KDS_AUTH: 'token', CAUSEWAY_COUNT: 3 },
      shown: { DATABASE_URL: '*****', CAUSEWAY_REST_PORT: '0' },
    });
    expect(read.ok && read.values.CAUSEWAY_GLOBAL_ADDRESS).toBeUndefined();
  });

  it('reports everything that is wrong at once, each in one line with the likely meaning', () => {
    const read = readSettings(settings, {
      env: { CAUSEWAY_REST_PROT: '1', CAUSEWAY_LEADER_LEASE: 'soon', CAUSEWAY_KDS_AUTH: 'maybe' },
      file: { restport: 1, kdsAuth: 'none' },
    });
    expect(read).toEqual({
      ok: false,
      problems: [
        'CAUSEWAY_REST_PROT is not a known environment variable; did you mean CAUSEWAY_REST_PORT?',
        'restport is not a known key of the configuration file; did you mean restPort?',
        'DATABASE_URL is missing',
        'CAUSEWAY_LEADER_LEASE: must be a time such as 200ms, 3s, 5m or 1h; got "soon"',
        'CAUSEWAY_KDS_AUTH: must be one of token, none; got "maybe"',
      ],
    });
  });

  it('never shows a secret that does not parse', () => {
    const read = readSettings({ CAUSEWAY_TOKEN: secret(oneOf(['a'])) }, { env: { CAUSEWAY_TOKEN: 'hunter2' } });
    expect(JSON.stringify(read)).not.toContain('hunter2');
    expect(read.ok).toBe(false);
  });
});
