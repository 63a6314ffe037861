import { checkedText, count, duration, flag, oneOf, optional, port, readSettings, secret, text } from '../index';

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
        'restport of the configuration file is not a known setting; did you mean restPort?',
        'DATABASE_URL is missing',
        'CAUSEWAY_LEADER_LEASE: must be a time such as 200ms, 3s, 5m or 1h; got "soon"',
        'CAUSEWAY_KDS_AUTH: must be one of token, none; got "maybe"',
      ],
    });
  });

  it('ignores and reports variables of other programs, and names that resemble no setting', () => {
    const env = {
      DATABASE_URL: 'postgres://x',
      CAUSEWAY_SERVER: 'http://127.0.0.1:5681',
      CAUSEWAY_EAST_REST_PORT: '6681',
      CAUSEWAY_DATA_DIR: '/data',
      // Of Services called causeway, causeway-rest and causeway-kds.
      CAUSEWAY_PORT: 'tcp://10.0.0.1:5681',
      CAUSEWAY_PORT_5681_TCP_ADDR: '10.0.0.1',
      CAUSEWAY_SERVICE_HOST: '10.0.0.1',
      CAUSEWAY_SERVICE_PORT_REST: '5681',
      CAUSEWAY_REST_PORT: 'tcp://10.0.0.2:80',
      CAUSEWAY_KDS_SERVICE_HOST: '10.0.0.3',
      CAUSEWAY_EMPTY: '',
    };
    const { DATABASE_URL: _, CAUSEWAY_EMPTY: __, ...reported } = env;
    const read = readSettings(settings, { env });
    expect(read).toMatchObject({ ok: true, values: { CAUSEWAY_REST_PORT: 5681 } });
    expect(read.ok && [...read.ignored].sort()).toEqual(Object.keys(reported).sort());
  });

  it.each([
    ['CAUSEWAY_RESTPORT', 'CAUSEWAY_REST_PORT'],
    ['CAUSEWAY_PORT_REST', 'CAUSEWAY_REST_PORT'],
    ['CAUSEWAY_LEDER_LEASE', 'CAUSEWAY_LEADER_LEASE'],
    ['CAUSEWAY_GLOBAL_ADDR', 'CAUSEWAY_GLOBAL_ADDRESS'],
    ['CAUSEWAY_KDS_OUTH', 'CAUSEWAY_KDS_AUTH'],
    ['CAUSEWAY_SKIPS', 'CAUSEWAY_SKIP'],
  ])('refuses %s, which was meant as %s', (name, meant) => {
    const env = { DATABASE_URL: 'postgres://x', [name]: '1' };
    const problems = [`${name} is not a known environment variable; did you mean ${meant}?`];
    expect(readSettings(settings, { env })).toEqual({ ok: false, problems });
    expect(readSettings(settings, { env }, { elsewhere: new RegExp(name) })).toMatchObject({ ignored: [name] });
  });

  it('refuses an empty value of a setting that must have one, and takes its default only where none is given', () => {
    const own = { CAUSEWAY_OWNER: checkedText((given) => (given === '' ? 'must not be empty' : undefined), 'us') };
    const problems = ['CAUSEWAY_OWNER: must not be empty; got ""'];
    expect(readSettings(own, { env: { CAUSEWAY_OWNER: '' } })).toEqual({ ok: false, problems });
    expect(readSettings(own, { env: {}, file: { owner: '' } })).toEqual({ ok: false, problems });
    expect(readSettings(own, { env: {} })).toMatchObject({ ok: true, values: { CAUSEWAY_OWNER: 'us' } });
    expect(readSettings(own, { env: { CAUSEWAY_OWNER: 'them' } })).toMatchObject({
      values: { CAUSEWAY_OWNER: 'them' },
    });
  });

  it('names the successor of a renamed setting', () => {
    const renamed = { CAUSEWAY_NUMBER: 'CAUSEWAY_COUNT' };
    const sources = { env: { DATABASE_URL: 'postgres://x', CAUSEWAY_NUMBER: '4' }, file: { number: 5 } };
    expect(readSettings(settings, sources, { renamed })).toEqual({
      ok: false,
      problems: [
        'CAUSEWAY_NUMBER is called CAUSEWAY_COUNT now',
        'number of the configuration file is called count now',
      ],
    });
  });

  it('says of a setting that is gone what there is in its place, whatever its value', () => {
    const removed = { CAUSEWAY_NUMBER: 'count with CAUSEWAY_COUNT' };
    const sources = { env: { DATABASE_URL: 'postgres://x', CAUSEWAY_NUMBER: 'false' }, file: { number: 5 } };
    expect(readSettings(settings, sources, { removed })).toEqual({
      ok: false,
      problems: [
        'CAUSEWAY_NUMBER is gone: count with CAUSEWAY_COUNT',
        'number of the configuration file is gone: count with CAUSEWAY_COUNT',
      ],
    });
  });

  it('never shows a secret that does not parse', () => {
    const read = readSettings({ CAUSEWAY_TOKEN: secret(oneOf(['a'])) }, { env: { CAUSEWAY_TOKEN: 'hunter2' } });
    expect(JSON.stringify(read)).not.toContain('hunter2');
    expect(read.ok).toBe(false);
  });
});
