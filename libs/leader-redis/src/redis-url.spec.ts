import { parseRedisUrl, redisUrlFault } from './redis-url';

const ONE = ['redis://127.0.0.1:6379', 'rediss://u:p@h:1/3', 'unix:///run/redis.sock'];

const REFUSED: readonly (readonly [url: string, reason: RegExp])[] = [
  ['127.0.0.1:6379', /^must be redis:\/\/HOST:PORT, /],
  ['http://h', /^must be redis:\/\/HOST:PORT, /],
  ['redis://:secret@h:99999', /^must be redis:\/\/HOST:PORT, /],
  ['redis+ring://h', /^redis\+ring is not known; write redis\+sentinel or redis\+cluster$/],
  ['redis+sentinel://:secret@a,b', /^the hosts of Sentinels must be followed by \/SERVICE or \/SERVICE\/DATABASE$/],
  ['redis+sentinel://a/s p', /^the hosts of Sentinels must be followed by /],
  ['redis+sentinel://a/s/x', /^the hosts of Sentinels must be followed by /],
  ['redis+sentinel://:secret@a,b:0/s', /^server 2 of 2 must be HOST or HOST:PORT, the port 1 to 65535$/],
  ['redis+sentinel://a,a:26379/s', /^it names a server twice$/],
  [
    'redis+sentinel://a/s?sentinelpassword=secret',
    /^sentinelpassword is no parameter of redis\+sentinel; sentinel_user and sentinel_password are$/,
  ],
  ['redis+cluster://a/1', /^a cluster has no databases: it must end after the hosts$/],
  ['redis+cluster://a?x=1', /^x is no parameter of redis\+cluster$/],
  [
    `redis+cluster://${Array.from({ length: 17 }, (_, n) => `h${n}`).join(',')}`,
    /^it names 17 servers, and may name 16$/,
  ],
];

describe('REDIS_URL', () => {
  it.each(ONE)('%s is one server', (url) => {
    expect(parseRedisUrl(url)).toEqual({ ok: true, servers: { type: 'one', urls: [url] } });
  });

  it('names Sentinels, whose password is not that of the server', () => {
    const parsed = parseRedisUrl(
      'rediss+sentinel://app:s%2Fecret@a,[::1]:7/main/2?sentinel_user=w&sentinel_password=o%26ther',
    );
    if (!parsed.ok || parsed.servers.type !== 'sentinel') throw new Error('it is refused');
    const { urls, service, serverUrl } = parsed.servers;
    expect([urls, service]).toEqual([['rediss://w:o%26ther@a:26379', 'rediss://w:o%26ther@[::1]:7'], 'main']);
    expect(serverUrl('10.0.0.1', 6379)).toBe('rediss://app:s%2Fecret@10.0.0.1:6379/2');
    expect(serverUrl('fd00::1', 6379)).toBe('rediss://app:s%2Fecret@[fd00::1]:6379/2');
  });

  it('names Sentinels without a password', () => {
    const parsed = parseRedisUrl('redis+sentinel://a:1,b:2/main');
    if (!parsed.ok || parsed.servers.type !== 'sentinel') throw new Error('it is refused');
    expect(parsed.servers.urls).toEqual(['redis://a:1', 'redis://b:2']);
    expect(parsed.servers.serverUrl('c', 3)).toBe('redis://c:3/0');
  });

  it('names the nodes of a cluster', () => {
    const parsed = parseRedisUrl('redis+cluster://u:p@a,b:2');
    if (!parsed.ok || parsed.servers.type !== 'cluster') throw new Error('it is refused');
    expect(parsed.servers.urls).toEqual(['redis://u:p@a:6379', 'redis://u:p@b:2']);
    expect(parsed.servers.serverUrl('c', 3)).toBe('redis://u:p@c:3');
  });

  it.each(REFUSED)('%s is refused', (url, reason) => {
    expect(redisUrlFault(url)).toMatch(reason);
    expect(redisUrlFault(url)).not.toContain('secret');
  });
});
