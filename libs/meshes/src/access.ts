import type { MeshParametersSpec } from '@causeway/kinds';
import { durationMs, selectsLabels, type Labels } from '@causeway/resources';

/** How an inbound listens: Strict = mutual TLS only, Permissive = plaintext too, Off = plaintext only. */
export type MtlsMode = NonNullable<MeshParametersSpec['mtls']>;

/** Who may call the workloads of a mesh, and how (docs/reference/xds-translation.md, Inbounds). */
export interface MeshAccess {
  readonly mtls: MtlsMode;
  /** Who may call where no policy says so: anybody with a verified identity, or nobody. */
  readonly defaultAccess: 'Allow' | 'Deny';
  readonly overrides: NonNullable<MeshParametersSpec['mtlsOverrides']>;
  /** SPIFFE ids that are believed no longer, sorted. */
  readonly revoked: readonly string[];
  /** Whether processes rely on the header by which their proxy says who called. */
  readonly needsClientCertHeader: boolean;
  /** After how long an inbound closes a connection, ms. */
  readonly maxConnectionAge: number;
}

/** `maxConnectionAge` of a mesh that names none, ms. */
const DEFAULT_MAX_CONNECTION_AGE = 3_600_000;

/** The access that settings ask for, with the defaults: strict, and open to every verified identity. */
export function meshAccess(parameters: MeshParametersSpec): MeshAccess {
  const {
    mtls = 'Strict',
    defaultAccess = 'Allow',
    mtlsOverrides = [],
    clientCertHeader,
    maxConnectionAge,
    revokedIdentities,
  } = parameters;
  const age = maxConnectionAge === undefined ? undefined : durationMs(maxConnectionAge);
  const revoked = [...new Set(revokedIdentities)].sort();
  return {
    mtls,
    defaultAccess,
    overrides: mtlsOverrides,
    revoked,
    needsClientCertHeader: clientCertHeader === 'Required',
    maxConnectionAge: age ?? DEFAULT_MAX_CONNECTION_AGE,
  };
}

/** The mode of one inbound of a Dataplane with these labels. Linear in the overrides. */
export function findMtlsMode({ mtls, overrides }: MeshAccess, labels: Labels, port: number): MtlsMode {
  const found = overrides.find((each) => (each.port ?? port) === port && selectsLabels(each.selector, labels));
  return found?.mtls ?? mtls;
}
