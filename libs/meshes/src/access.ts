import type { MeshParametersSpec } from '@causeway/kinds';
import { durationMs, selectsLabels, type Labels } from '@causeway/resources';

/** TLS mode of an inbound: Strict accepts mutual TLS only, Permissive also plaintext, Off plaintext only. */
export type MtlsMode = NonNullable<MeshParametersSpec['mtls']>;

/** Access settings of a mesh: who may call its workloads, and how (docs/reference/xds-translation.md, Inbounds). */
export interface MeshAccess {
  readonly mtls: MtlsMode;
  /** Default for callers where no policy decides: any caller with a verified identity, or nobody. */
  readonly defaultAccess: 'Allow' | 'Deny';
  readonly overrides: NonNullable<MeshParametersSpec['mtlsOverrides']>;
  /** SPIFFE ids that are revoked, sorted. */
  readonly revoked: readonly string[];
  /** Whether applications read the caller's identity from the header that their proxy adds. */
  readonly needsClientCertHeader: boolean;
  /** Maximum age of an inbound connection, ms; then it is closed. */
  readonly maxConnectionAge: number;
}

/** `maxConnectionAge` of a mesh that names none, ms. */
const DEFAULT_MAX_CONNECTION_AGE = 3_600_000;

/** Returns the access that settings ask for, with the defaults: strict mTLS, open to every verified identity. */
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

/** Returns the TLS mode of one inbound of a Dataplane with these labels. Linear in the overrides. */
export function findMtlsMode({ mtls, overrides }: MeshAccess, labels: Labels, port: number): MtlsMode {
  const found = overrides.find((each) => (each.port ?? port) === port && selectsLabels(each.selector, labels));
  return found?.mtls ?? mtls;
}
