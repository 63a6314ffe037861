import { isIP, isIPv6 } from 'node:net';

/** Address of an upstream resolver. */
export interface UpstreamAddress {
  readonly address: string;
  readonly port: number;
}

/** Parses `address`, `address:port` or `[v6]:port`; undefined for any other text. A zone (`%eth0`) is kept. */
export function parseUpstream(text: string): UpstreamAddress | undefined {
  if (isIP(text) !== 0) return { address: text, port: 53 };
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const address = bracketed ?? plain ?? '';
  const port = Number(digits ?? 53);
  if (isIP(address) === 0 || port === 0 || port > 65_535) return undefined;
  if (bracketed !== undefined && !isIPv6(address)) return undefined;
  return { address, port };
}

/** Returns the `nameserver` lines of a resolver configuration (resolv.conf(5)), in order, each once. */
export function readResolverFile(content: string): UpstreamAddress[] {
  const found = new Map<string, UpstreamAddress>();
  for (const line of content.split('\n')) {
    const address = /^\s*nameserver\s+(\S+)/.exec(line)?.[1];
    if (address !== undefined && isIP(address) !== 0) found.set(address, { address, port: 53 });
  }
  return [...found.values()];
}
