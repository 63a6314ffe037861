import { isJsonArray, isJsonObject, type JsonObject } from '@causeway/resources';
import { isPort } from './zone-entrance';

/** Where a MeshExternalService is, outside the mesh. */
export interface ExternalTarget {
  /** IP addresses or host names, in the order of the service; lower priorities come first. */
  readonly endpoints: readonly { readonly host: string; readonly port: number; readonly priority: number }[];
  readonly tls?: ExternalTls;
  /** What of the service cannot be done; it then has no endpoints, so that nothing goes out unprotected. */
  readonly problem?: string;
}

/** TLS towards a server outside the mesh. */
export interface ExternalTls {
  /** Empty: the host of the endpoint. */
  readonly serverName: string;
  /** PEM; empty: the authorities that the proxy's machine trusts. */
  readonly authority: string;
}

const MOST_ENDPOINTS = 1_024;

/** Reads the endpoints and the TLS of a MeshExternalService. */
export function externalTarget(spec: JsonObject): ExternalTarget {
  const tls = isJsonObject(spec['tls']) && spec['tls']['enabled'] === true ? readTls(spec['tls']) : undefined;
  if (typeof tls === 'string') return { endpoints: [], problem: tls };
  const listed = isJsonArray(spec['endpoints']) ? spec['endpoints'].slice(0, MOST_ENDPOINTS) : [];
  const endpoints = listed.flatMap((endpoint) => {
    if (!isJsonObject(endpoint)) return [];
    const { address, port, priority } = endpoint;
    if (typeof address !== 'string' || address === '' || !isPort(port)) return [];
    return [{ host: address, port, priority: typeof priority === 'number' ? priority : 0 }];
  });
  return { endpoints, ...(tls && { tls }) };
}

/** The TLS, or why it cannot be done. */
function readTls({ version, allowRenegotiation, verification }: JsonObject): ExternalTls | string {
  if (version !== undefined || allowRenegotiation === true)
    return 'spec.tls: version and allowRenegotiation are not done';
  if (verification === undefined) return { serverName: '', authority: '' };
  if (!isJsonObject(verification)) return 'spec.tls.verification: is no object';
  const { mode = 'Secured', serverName, caCert, ...others } = verification;
  const [other] = Object.keys(others);
  if (other !== undefined) return `spec.tls.verification.${other}: is not done`;
  if (mode !== 'Secured') return 'spec.tls.verification.mode: only Secured is done';
  const inline = isJsonObject(caCert) ? caCert['inlineString'] : '';
  if (caCert !== undefined && typeof inline !== 'string')
    return 'spec.tls.verification.caCert: only inlineString is done';
  return {
    serverName: typeof serverName === 'string' ? serverName : '',
    authority: typeof inline === 'string' ? inline : '',
  };
}
