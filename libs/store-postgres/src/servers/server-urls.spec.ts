import { formatServers } from './server-addresses';
import { serverUrls } from './server-urls';

const ONE = [
  'postgres://u:p@a:1/db',
  'postgres://a/db',
  'socket:/run/postgres?db=x',
  'postgres:///db?host=/run',
  'nonsense',
];

/** The driver takes libpq's meaning of the mode. */
const COMPATIBLE = (url: string): string => `${url}&uselibpqcompat=true`;

const SPLIT: readonly (readonly [url: string, urls: readonly string[]])[] = [
  ['postgres://u:p@a:1,b:2/db', ['postgres://u:p@a:1/db', 'postgres://u:p@b:2/db']],
  ['postgresql://u:p,q@a,b/db', ['postgresql://u:p,q@a:5432/db', 'postgresql://u:p,q@b:5432/db']],
  ['postgres://a:1,b:2', ['postgres://a:1', 'postgres://b:2']],
  ['postgres://[::1]:1,[fd00::2]/db', ['postgres://[::1]:1/db', 'postgres://[fd00::2]:5432/db']],
  [
    'postgres://a,b/db?sslmode=verify-full&target_session_attrs=primary',
    ['postgres://a:5432/db?sslmode=verify-full', 'postgres://b:5432/db?sslmode=verify-full'].map(COMPATIBLE),
  ],
  ['postgres://a/db?sslmode=verify-full&sslrootcert=system', ['postgres://a/db?sslmode=verify-full'].map(COMPATIBLE)],
  ['postgres://a/db?sslmode=require', ['postgres://a/db?sslmode=require'].map(COMPATIBLE)],
  ['postgres://a/db?sslmode=prefer', ['postgres://a/db?sslmode=require'].map(COMPATIBLE)],
  ['postgres://a:1/db?target_session_attrs=read-write', ['postgres://a:1/db']],
];

const REFUSED: readonly (readonly [url: string, reason: RegExp])[] = [
  ['postgres://a,b/db?target_session_attrs=any', /^target_session_attrs must be read-write or primary: /],
  ['postgres://a/db?sslmode=full', /^sslmode must be one of disable, require, verify-ca, verify-full$/],
  ['postgres://a/db?sslmode=verify-ca', /^sslmode=verify-ca needs sslrootcert=FILE/],
  ['postgres://a/db?sslmode=require&sslrootcert=system', /^sslrootcert=system needs sslmode=verify-full$/],
  ['postgres://a/db?sslmode=verify-ca&sslrootcert=/none/such', /^sslrootcert: ENOENT: .*\/none\/such/],
  [`postgres://a/db?sslmode=verify-ca&sslrootcert=${__filename}`, /server-urls.spec.ts has no certificate in PEM$/],
  ['postgres://u:secret@a,b:0/db', /^server 2 of 2 must be HOST or HOST:PORT, the port 1 to 65535$/],
  ['postgres://u:secret@a,b:65536/db', /^server 2 of 2 /],
  ['postgres://a,,b/db', /^server 2 of 3 /],
  ['postgres://a,b:c/db', /^server 2 of 2 /],
  ['postgres://a,b,a:5432/db', /^it names a server twice$/],
  [
    `postgres://${Array.from({ length: 17 }, (_, n) => `h${n}`).join(',')}/db`,
    /^it names 17 servers, and may name 16$/,
  ],
];

describe('servers of DATABASE_URL', () => {
  it.each(ONE)('%s is one URL and stays as it is', (url) => {
    expect(serverUrls(url)).toEqual({ ok: true, urls: [url] });
  });

  it.each(SPLIT)('%s', (url, urls) => {
    expect(serverUrls(url)).toEqual({ ok: true, urls });
  });

  it.each(REFUSED)('%s is refused', (url, reason) => {
    expect(serverUrls(url)).toEqual({ ok: false, reason: expect.stringMatching(reason) as string });
    expect(JSON.stringify(serverUrls(url))).not.toContain('secret');
  });

  it('are shown in logs without the password', () => {
    expect(formatServers(['postgres://u:p@a:1/db', 'postgres://u:p@b/db'])).toBe('a:1,b:5432/db');
    expect(formatServers(['nonsense'])).toBe('an address that is no URL');
  });
});
