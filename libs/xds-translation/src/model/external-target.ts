import { readExternalTrust, type ExternalProblem, type ExternalTls, type SecretLookup } from '@causeway/kinds';
import { isJsonArray, isJsonObject, type JsonObject } from '@causeway/resources';
import { isPort } from './ingress-endpoint';

export type { AltName, ExternalTls, ServerCheck, TlsVersion } from '@causeway/kinds';

/** The endpoints of a MeshExternalService, outside the mesh. */
export interface ExternalTarget {
  /** IP addresses or host names, in the order of the service; lower priorities come first. */
  readonly endpoints: readonly { readonly host: string; readonly port: number; readonly priority: number }[];
  readonly tls?: ExternalTls;
  /** The reason why the service cannot be translated; it then has no endpoints, so that no traffic leaves unprotected. */
  readonly problem?: ExternalProblem;
}

/** Facts that decide which secrets a service may use. */
export interface ExternalFacts {
  readonly secret: SecretLookup;
  /** Reports whether the proxies that dial the service may get the key of its client certificate, given the source of the key. */
  readonly givesKey: (source: string) => boolean;
}

const MAX_ENDPOINTS = 1_024;

/** Reads the endpoints and the TLS of a MeshExternalService. */
export function externalTarget(spec: JsonObject, { secret, givesKey }: ExternalFacts): ExternalTarget {
  const trust = readExternalTrust(spec, secret);
  if (trust.type === 'problem') return { endpoints: [], problem: { field: trust.field, reason: trust.reason } };
  if (trust.type === 'plain') return { endpoints: readEndpoints(spec) };
  const { tls, clientKey } = trust;
  if (clientKey !== undefined && !givesKey(clientKey)) return { endpoints: [], problem: KEY_WITHOUT_EGRESS };
  return { endpoints: readEndpoints(spec), tls };
}

const KEY_WITHOUT_EGRESS: ExternalProblem = {
  field: 'spec.tls.verification.clientKey',
  reason: 'needs a ZoneEgress in this zone: a private key is given to egresses only',
};

/** Reads the endpoints of a MeshExternalService, without its TLS. */
export function readEndpoints(spec: JsonObject): ExternalTarget['endpoints'] {
  const listed = isJsonArray(spec['endpoints']) ? spec['endpoints'].slice(0, MAX_ENDPOINTS) : [];
  return listed.flatMap((endpoint) => {
    if (!isJsonObject(endpoint)) return [];
    const { address, port, priority } = endpoint;
    if (typeof address !== 'string' || address === '' || !isPort(port)) return [];
    return [{ host: address, port, priority: typeof priority === 'number' ? priority : 0 }];
  });
}
