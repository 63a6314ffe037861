import { Type } from 'typebox';
import { MAX_TRUST_DOMAIN_LENGTH, trustDomainProblem } from '@causeway/naming';
import { defineKind, Sync, type FieldPath, type Violation } from '@causeway/resources';
import { authorityProblem, splitCertificates, MAX_CERTIFICATES } from './schema/certificate-rules';
import { Optionals, Pem, strict, Text } from './schema/schema-parts';

const Bundle = Type.Object(
  { type: Type.Enum(['Pem']), pem: Type.Optional(Type.Object({ value: Pem }, strict)) },
  strict,
);

/** A certificate made for this example; its private key was discarded. */
const EXAMPLE = [
  '-----BEGIN CERTIFICATE-----',
  'MIIB2zCCAYCgAwIBAgIUP9b+9W4UnTONArUbPaB8WMsG1hgwCgYIKoZIzj0EAwIw',
  'IjEgMB4GA1UEAwwXZGVmYXVsdC5lYXN0Lm1lc2gubG9jYWwwIBcNMjYxMTIyMjM0',
  'NjE5WhgPMjEyNjEwMjkyMzQ2MTlaMCIxIDAeBgNVBAMMF2RlZmF1bHQuZWFzdC5t',
  'ZXNoLmxvY2FsMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEULnFBBqysaLzIpQZ',
  'OGqbUuU8eRO8CC7SWNChlsl1phDIDSSOPQ/202rgczZXMTDbZrx5hzdKLSDdQ7Hq',
  'ERV/gKOBkTCBjjAdBgNVHQ4EFgQUX2TUsd9zaBgysatun5OXRfIbsWAwHwYDVR0j',
  'BBgwFoAUX2TUsd9zaBgysatun5OXRfIbsWAwDwYDVR0TAQH/BAUwAwEB/zAOBgNV',
  'HQ8BAf8EBAMCAQYwKwYDVR0RBCQwIoYgc3BpZmZlOi8vZGVmYXVsdC5lYXN0Lm1l',
  'c2gubG9jYWwwCgYIKoZIzj0EAwIDSQAwRgIhANqY2oiWfsi0n1kFeP24ADrwlQVG',
  'kABYrp4FWZSKkctJAiEArPA9ENHgkbLWMBtnnTVt+aXrhmKw2mAVj+b4HwIikTo=',
  '-----END CERTIFICATE-----',
  '',
].join('\n');

const Spec = Type.Object(
  {
    trustDomain: Type.String({ minLength: 1, maxLength: MAX_TRUST_DOMAIN_LENGTH }),
    caBundles: Type.Array(Bundle, { minItems: 1, maxItems: 32 }),
    /** KRI of the MeshIdentity from which it was created. */
    origin: Type.Optional(Optionals({ kri: Text })),
  },
  {
    ...strict,
    examples: [
      {
        trustDomain: 'default.east.mesh.local',
        caBundles: [{ type: 'Pem', pem: { value: EXAMPLE } }],
      },
    ],
  },
);

/**
 * Trusted certificate authorities of a trust domain (docs/design.md §1, Identity and addresses of zones). Must contain
 * at least one certificate, and certificates of authorities only.
 */
export const MeshTrust = defineKind({
  name: 'MeshTrust',
  plural: 'meshtrusts',
  shortName: 'mtrust',
  scope: 'mesh',
  sync: Sync.bothWays,
  writer: 'operator',
  spec: Spec,
  validate: ({ trustDomain, caBundles }, at) => {
    const problem = trustDomainProblem(trustDomain);
    const total = caBundles.reduce((sum, { pem }) => sum + splitCertificates(pem?.value ?? '').length, 0);
    const bundles = at.field('caBundles');
    return [
      ...(problem === undefined
        ? []
        : [at.field('trustDomain').violation(`is not a trust domain: ${problem}; got "${trustDomain}"`, 'wrong-form')]),
      ...(total > MAX_CERTIFICATES
        ? [bundles.violation(`must have at most ${MAX_CERTIFICATES} certificates, have ${total}`, 'too-many')]
        : caBundles.flatMap((bundle, i) => checkBundle(bundle.pem, bundles.index(i).field('pem')))),
    ];
  },
});

function checkBundle(pem: { readonly value: string } | undefined, at: FieldPath): Violation[] {
  if (!pem) return [at.violation('is required with type Pem', 'required')];
  const problem = authorityProblem(pem.value);
  return problem === undefined ? [] : [at.field('value').violation(problem, 'wrong-form')];
}
