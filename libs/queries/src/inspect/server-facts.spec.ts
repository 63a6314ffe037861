import { redactSecrets } from './server-facts';

describe('redacted', () => {
  it.each([
    [
      'a secret by its name',
      { operatorToken: 'x', password: 'y', apiSecret: 'z' },
      { operatorToken: '*****', password: '*****', apiSecret: '*****' },
    ],
    ['a secret in a list', { tokens: ['x'] }, { tokens: ['*****'] }],
    ['a password in a URL', { database: 'postgres://u:p@h:5432/d' }, { database: 'postgres://u:*****@h:5432/d' }],
    ['where a token is', { zoneTokenFile: '/etc/token' }, { zoneTokenFile: '/etc/token' }],
    [
      'nothing to hide',
      { port: 1, tls: true, name: null, deep: { a: ['b'] } },
      { port: 1, tls: true, name: null, deep: { a: ['b'] } },
    ],
    ['an empty secret', { token: '' }, { token: '' }],
  ])('%s', (_case, config, shown) => {
    expect(redactSecrets(config)).toEqual(shown);
  });
});
