import { Type, type Static } from 'typebox';
import { isIP } from '@causeway/ipam';
import { defineKind, Sync, type FieldPath, type Violation } from '@causeway/resources';
import { CertificateSource, checkSource } from './schema/certificate-source';
import { isDomainName, nameWarnings } from './schema/rules';
import { Extension, MAX_ITEMS, NonEmpty, PortNumber, strict, Text } from './schema/schema-parts';

const versions = ['TLSAuto', 'TLS10', 'TLS11', 'TLS12', 'TLS13'] as const;

const Match = Type.Object(
  {
    type: Type.Optional(Type.Enum(['HostnameGenerator'], { default: 'HostnameGenerator' })),
    port: PortNumber,
    protocol: Type.Optional(Type.Enum(['tcp', 'grpc', 'http', 'http2'], { default: 'tcp' })),
  },
  strict,
);

const Endpoint = Type.Object(
  {
    address: NonEmpty,
    port: PortNumber,
    priority: Type.Optional(Type.Integer({ minimum: 0, maximum: 128 })),
  },
  strict,
);

const AltName = Type.Object(
  { type: Type.Optional(Type.Enum(['Exact', 'Prefix'], { default: 'Exact' })), value: NonEmpty },
  strict,
);

const Verification = Type.Object(
  {
    mode: Type.Optional(Type.Enum(['SkipSAN', 'SkipCA', 'SkipAll', 'Secured'], { default: 'Secured' })),
    serverName: Type.Optional(Text),
    subjectAltNames: Type.Optional(Type.Array(AltName, { maxItems: MAX_ITEMS })),
    caCert: Type.Optional(CertificateSource),
    clientCert: Type.Optional(CertificateSource),
    clientKey: Type.Optional(CertificateSource),
  },
  strict,
);

const Version = Type.Object(
  {
    min: Type.Optional(Type.Enum(versions, { default: 'TLSAuto' })),
    max: Type.Optional(Type.Enum(versions, { default: 'TLSAuto' })),
  },
  strict,
);

const Tls = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean({ default: false })),
    version: Type.Optional(Version),
    allowRenegotiation: Type.Optional(Type.Boolean({ default: false })),
    verification: Type.Optional(Verification),
  },
  strict,
);

const Spec = Type.Object(
  {
    match: Match,
    endpoints: Type.Optional(Type.Array(Endpoint, { maxItems: MAX_ITEMS })),
    tls: Type.Optional(Tls),
    extension: Type.Optional(Extension),
  },
  {
    ...strict,
    examples: [{ match: { port: 443, protocol: 'tcp' }, endpoints: [{ address: 'api.example.com', port: 443 }] }],
  },
);

/** A service outside the mesh that gets a VIP and hostnames in the mesh (docs/reference/kuma-rest.md §3.5). */
export const MeshExternalService = defineKind({
  name: 'MeshExternalService',
  plural: 'meshexternalservices',
  shortName: 'extsvc',
  scope: 'mesh',
  sync: Sync.bothWays,
  spec: Spec,
  validate: (spec, at) => [
    ...(spec.endpoints ?? []).flatMap((endpoint, i) =>
      isIP(endpoint.address) || isDomainName(endpoint.address)
        ? []
        : [
            at
              .field('endpoints')
              .index(i)
              .field('address')
              .violation(`must be an IP address or a host name; got \"${endpoint.address}\"`, 'wrong-form'),
          ],
    ),
    ...checkTls(spec.tls, at.field('tls')),
  ],
  warn: ({ name, spec }) => [
    ...nameWarnings(name),
    ...(spec.endpoints?.length || spec.extension ? [] : ['spec.endpoints: there are none, so nothing answers']),
  ],
});

function checkTls(tls: Static<typeof Tls> | undefined, at: FieldPath): Violation[] {
  const verification = tls?.verification;
  const inside = at.field('verification');
  return [
    ...versionOrder(tls?.version, at.field('version').field('min')),
    ...(verification ? checkVerification(verification, inside) : []),
  ];
}

function versionOrder(version: Static<typeof Version> | undefined, at: FieldPath): Violation[] {
  const { min = 'TLSAuto', max = 'TLSAuto' } = version ?? {};
  if (min === 'TLSAuto' || max === 'TLSAuto' || versions.indexOf(min) <= versions.indexOf(max)) return [];
  return [at.violation(`must not be higher than max; got ${min} and ${max}`)];
}

function checkVerification(verification: Static<typeof Verification>, at: FieldPath): Violation[] {
  const { serverName, caCert, clientCert, clientKey } = verification;
  return [
    ...(serverName === undefined || isDomainName(serverName)
      ? []
      : [at.field('serverName').violation(`must be a host name; got "${serverName}"`)]),
    ...(clientCert && !clientKey ? [at.field('clientKey').violation('is required with clientCert', 'required')] : []),
    ...(clientKey && !clientCert ? [at.field('clientCert').violation('is required with clientKey', 'required')] : []),
    ...checkSource(caCert, at.field('caCert')),
    ...checkSource(clientCert, at.field('clientCert')),
    ...checkSource(clientKey, at.field('clientKey')),
  ];
}
