import { Type, type Static } from 'typebox';
import type { FieldPath, Violation } from '@causeway/resources';
import { GoDuration, NonEmpty, Optionals, strict } from './schema-parts';

/** A duration as Kuma's certificates use it: Go's format, or days and years. */
const Lifetime = Type.Union([
  GoDuration,
  Type.String({ title: 'days or years such as 1d, 10y', maxLength: 32, pattern: '^[0-9]{1,5}[dy]$' }),
]);

const Backend = Type.Object(
  {
    name: NonEmpty,
    /** `builtin`: an authority that the global creates. */
    type: NonEmpty,
    mode: Type.Optional(Type.Enum(['STRICT', 'PERMISSIVE'])),
    dpCert: Type.Optional(Optionals({ rotation: Optionals({ expiration: Lifetime }), requestTimeout: GoDuration })),
    rootChain: Type.Optional(Optionals({ requestTimeout: GoDuration })),
    conf: Type.Optional(Optionals({ caCert: Optionals({ RSAbits: Type.Integer(), expiration: Lifetime }) })),
  },
  strict,
);

/**
 * One authority for all zones, as in Kuma 2.14, for Kuma zones whose proxies have no MeshIdentity. Without effect while
 * `enabledBackend` is empty.
 */
export const MeshMtls = Optionals({
  enabledBackend: Type.String({ maxLength: 253 }),
  backends: Type.Array(Backend, { maxItems: 16 }),
  skipValidation: Type.Boolean(),
});

type MeshMtlsSpec = Static<typeof MeshMtls>;

/** Checks Kuma's rules (docs/reference/kuma-2.14.md §1), and that the only type is `builtin`, without settings. */
export function checkMeshMtls(mtls: MeshMtlsSpec | undefined, at: FieldPath): Violation[] {
  const { enabledBackend = '', backends = [] } = mtls ?? {};
  const known = backends.map(({ name }) => name);
  const listed = at.field('backends');
  return [
    ...(backends.length > 1
      ? [listed.violation(`must have at most 1 backend, have ${backends.length}`, 'too-many')]
      : []),
    ...backends.flatMap(({ name, type, conf }, i) => [
      ...(type === 'builtin' ? [] : [listed.index(i).field('type').violation(`must be builtin; got "${type}"`)]),
      ...(isBackendName(name)
        ? []
        : [listed.index(i).field('name').violation(`must be a lower-case DNS label; got "${name}"`, 'wrong-form')]),
      ...(conf && Object.keys(conf).length > 0
        ? [listed.index(i).field('conf').violation('must be left out: the authority is ECDSA P-256 and lasts 10 years')]
        : []),
    ]),
    ...(enabledBackend === '' || known.includes(enabledBackend)
      ? []
      : [at.field('enabledBackend').violation(`must name one of the backends; got "${enabledBackend}"`)]),
  ];
}

/** Whether a backend's name can be part of Secret names. */
function isBackendName(name: string): boolean {
  return name.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name);
}
