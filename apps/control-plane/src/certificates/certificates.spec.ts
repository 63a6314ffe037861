import { readSettings } from '@causeway/runtime';
import { restCertificateSource } from './certificates.module';
import { sharedSettings } from '../settings/settings';

function sourceOf(env: Readonly<Record<string, string>>): ReturnType<typeof restCertificateSource> {
  const read = readSettings(
    sharedSettings,
    { env: { DATABASE_URL: 'postgres://a@127.0.0.1:1/a', ...env }, file: {} },
    {},
  );
  if (!read.ok) throw new Error(read.problems.join());
  return restCertificateSource(read.values);
}

describe('TLS of REST', () => {
  const FILES = { CAUSEWAY_REST_TLS_CERT_FILE: 'a.crt', CAUSEWAY_REST_TLS_KEY_FILE: 'a.key' };
  const files = { type: 'files', certificateFile: 'a.crt', keyFile: 'a.key' };
  const own = (...names: readonly string[]): object => ({ type: 'own', names });

  it.each<[string, Readonly<Record<string, string>>, object]>([
    ['off by default', {}, { type: 'off' }],
    ['off by default on other loopback addresses', { CAUSEWAY_BIND_ADDRESS: '::1' }, { type: 'off' }],
    ['on beyond loopback', { CAUSEWAY_BIND_ADDRESS: '0.0.0.0' }, own()],
    ['on where it is bound to one address', { CAUSEWAY_BIND_ADDRESS: '10.0.0.5' }, own('10.0.0.5')],
    ['off beyond loopback if configured', { CAUSEWAY_BIND_ADDRESS: '::', CAUSEWAY_REST_TLS: 'off' }, { type: 'off' }],
    [
      'on for loopback if configured',
      { CAUSEWAY_REST_TLS: 'on', CAUSEWAY_REST_TLS_NAMES: 'a,b' },
      own('a', 'b', '127.0.0.1'),
    ],
    ['on where files are given', FILES, files],
  ])('is %s', (_, env, wanted) => expect(sourceOf(env)).toEqual(wanted));
});
