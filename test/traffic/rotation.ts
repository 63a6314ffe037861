import type { EnvoyProcess } from '../support/envoy-process';
import type { ProcessPlane } from '../support/process-plane';

/** The state of a zone's certificate authority. */
export interface ShownAuthority {
  readonly step: 'steady' | 'trusting' | 'retiring';
  readonly usedBy?: string;
  readonly missing: { readonly total: number; readonly items: readonly string[] };
  readonly authorities: readonly { readonly certificate: string; readonly signs: boolean }[];
}

export async function authorityOf(zone: ProcessPlane): Promise<ShownAuthority> {
  const shown: unknown = await zone.get('/_ca');
  return shown as ShownAuthority;
}

/** Returns the serial of the certificate that a proxy has now; empty if it has none. */
export async function serialOf(proxy: EnvoyProcess): Promise<string> {
  const certs = await proxy.ask('/certs');
  return /"cert_chain": \[\s*\{[^}]*?"serial_number": "([0-9a-f]+)"/.exec(certs)?.[1] ?? '';
}
