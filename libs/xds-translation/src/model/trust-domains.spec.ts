import { EAST_AUTHORITY, LEAF_CERTIFICATE, NEXT_EAST_AUTHORITY } from '../../../../test/support/certificates';
import { sketch } from '../../../../test/support/traffic-zone';
import { computeTrustDomains } from './trust-domains';

const trust = (name: string, trustDomain: string, zone: string, ...pems: readonly string[]) =>
  sketch(
    'MeshTrust',
    name,
    { trustDomain, caBundles: pems.map((value) => ({ type: 'Pem', pem: { value } })) },
    { zone },
  );
const certificates = (pem: string): number => pem.split('BEGIN CERTIFICATE').length - 1;

describe('the trust domains of a mesh', () => {
  it('are one entry a domain, with the authorities of all that are believed here, each once', () => {
    const found = computeTrustDomains(
      [
        trust('b', 'two', '', EAST_AUTHORITY),
        trust('a', 'one', '', EAST_AUTHORITY),
        trust('c', 'one', 'west', `${NEXT_EAST_AUTHORITY}\n${EAST_AUTHORITY}`),
        trust('d', 'one', 'east', LEAF_CERTIFICATE),
        trust('e', 'three', 'east', EAST_AUTHORITY),
      ],
      'default',
      'west',
    );
    expect(found.map(({ name, pem }) => [name, certificates(pem)])).toEqual([
      ['one', 2],
      ['two', 1],
    ]);
  });

  it('have nothing by which Envoy would reject all of them: no text, no cut and no leaf certificate, no empty domain', () => {
    const cut = EAST_AUTHORITY.replace(/MII[\s\S]{40}/, 'MII');
    const found = computeTrustDomains(
      [
        trust('a', 'one', '', 'garbage', cut, LEAF_CERTIFICATE, EAST_AUTHORITY, '-----BEGIN CERTIFICATE-----'),
        trust('b', 'two', '', cut, '', LEAF_CERTIFICATE),
      ],
      'default',
      'west',
    );
    expect(found).toEqual([{ name: 'one', pem: EAST_AUTHORITY }]);
  });
});
