import { hashSni, kriSni, type SniSubject } from './sni';

const redis: SniSubject = {
  shortName: 'msvc',
  mesh: 'default',
  zone: 'east',
  namespace: '',
  name: 'redis',
  port: 6379,
  section: '6379',
};
const backend = { ...redis, mesh: 'demo', name: 'backend', port: 8080, section: 'http' };
const long = 'n'.repeat(63);

describe('server names', () => {
  it.each<[string, Partial<SniSubject>, string | undefined]>([
    ['of a service of a zone', {}, 'sni.msvc.default.east.redis.6379'],
    ['with a namespace', { namespace: 'shop' }, 'sni.msvc.default.east.shop.redis.6379'],
    ['with the port by name', { section: 'tcp-main' }, 'sni.msvc.default.east.redis.tcp-main'],
    ['of several zones', { shortName: 'mzsvc', zone: '' }, 'sni.mzsvc.default.redis.6379'],
    ['of an external service', { shortName: 'extsvc', zone: '' }, 'sni.extsvc.default.redis.6379'],
    ['of a dotted name: none', { name: 'redis.main' }, undefined],
    ['of a port name that is no label: none', { section: 'Main_1' }, undefined],
    ['of a part that is too long: none', { name: 'n'.repeat(64) }, undefined],
    ['that is too long as a whole: none', { mesh: long, zone: long, namespace: long, name: long }, undefined],
  ])('in the KRI form, %s', (_, parts, want) => expect(kriSni({ ...redis, ...parts })).toBe(want));

  it.each<[string, SniSubject, string]>([
    ['backend of demo', backend, 'ae10a8071b8a8eeb8.backend.8080.demo.ms'],
    ['the same of several zones', { ...backend, shortName: 'mzsvc' }, 'ae10a8071b8a8eeb8.backend.8080.demo.mzms'],
    ['redis of default', redis, 'a25502fde077cd057.redis.6379.default.ms'],
    ['an external service', { ...redis, shortName: 'extsvc' }, 'a25502fde077cd057.redis.6379.default.mes'],
  ])('in the hash form as Kuma computes it: %s', (_, subject, want) => expect(hashSni(subject)).toBe(want));

  it('in the hash form have the namespace in the name, and long parts are cut but hashed whole', () => {
    expect(hashSni({ ...redis, namespace: 'shop' })).toMatch(/^a[0-9a-f]{16}\.redis\.shop\.6379\.default\.ms$/);
    const one = hashSni({ ...redis, name: `${long}1` });
    expect(one).toMatch(new RegExp(`^a[0-9a-f]{16}\\.${'n'.repeat(62)}x\\.6379\\.default\\.ms$`));
    expect(one).not.toBe(hashSni({ ...redis, name: `${long}2` }));
  });
});
