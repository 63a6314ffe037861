import { formatKri, parseKri } from './kri';

describe('kriOf', () => {
  it.each<[string, Parameters<typeof formatKri>, string]>([
    ['a mesh', [{ shortName: 'm', mesh: '', name: 'default', labels: {} }], 'kri_m____default_'],
    [
      'a service of a zone',
      [{ shortName: 'msvc', mesh: 'default', name: 'redis', labels: { 'kuma.io/zone': 'east' } }],
      'kri_msvc_default_east__redis_',
    ],
    [
      'all parts',
      [
        {
          shortName: 'msvc',
          mesh: 'm',
          name: 'redis',
          labels: { 'kuma.io/zone': 'east', 'k8s.kuma.io/namespace': 'shop' },
        },
        'http',
      ],
      'kri_msvc_m_east_shop_redis_http',
    ],
    [
      'a copy with a wire name',
      [
        {
          shortName: 'hg',
          mesh: '',
          name: 'g-d8466458x7574b7b',
          labels: { 'kuma.io/display-name': 'g', 'kuma.io/zone': 'east' },
        },
      ],
      'kri_hg__east__g_',
    ],
  ])('%s', (_, [subject, section], want) => {
    expect(formatKri(subject, section)).toBe(want);
  });
});

describe('parseKri', () => {
  it('takes apart what kriOf made', () => {
    expect(parseKri('kri_msvc_m_east_shop_redis.demo-app_http')).toEqual({
      ok: true,
      kri: { shortName: 'msvc', mesh: 'm', zone: 'east', namespace: 'shop', name: 'redis.demo-app', section: 'http' },
    });
  });

  it('gives what follows the sixth part to the section', () => {
    expect(parseKri('kri_m____default_a_b')).toMatchObject({ ok: true, kri: { name: 'default', section: 'a_b' } });
  });

  it.each([
    ['msvc_m_east_shop_redis_', 'starts with "kri_"'],
    ['', 'starts with "kri_"'],
    ['kri_msvc_m_east_shop_redis', 'an identifier is kri_<short>_<mesh>_<zone>_<namespace>_<name>_<section>'],
    ['kri___default_default__mtp-3_', 'names a kind and a resource'],
    ['kri_msvc_default____', 'names a kind and a resource'],
  ])('refuses "%s"', (text, reason) => {
    const parsed = parseKri(text);
    expect(parsed.ok ? '' : parsed.reason).toContain(reason);
  });
});
