import { isIPv4 } from 'node:net';
import type { Metadata } from '@grpc/grpc-js';

/** What is looked at to tell whether a call comes from this machine. */
export interface CallOrigin {
  /** The address of the peer. */
  readonly address: string;
  /** The pseudo-header `:authority`. */
  readonly host: string;
  readonly metadata: Metadata;
}

/** Headers that a proxy or a browser adds. */
const FOREIGN =
  /^(forwarded|via|client-ip|true-client-ip|cf-.*|fastly-.*|x-(?!causeway).*|origin|referer|sec-.*|cookie)$/;

/**
 * True for what a program on this machine asks itself: over loopback, by a name of this machine, through no proxy and from no
 * browser. REST has the same rule for its requests (docs/design.md §6).
 */
export function isLocalCall({ address, host, metadata }: CallOrigin): boolean {
  const name = host.replace(/:\d{1,5}$/, '').toLowerCase();
  if (!isLoopback(address) || !(name === '[::1]' || isLoopback(name))) return false;
  return !Object.keys(metadata.getMap()).some((key) => FOREIGN.test(key));
}

function isLoopback(address: string): boolean {
  if (address === 'localhost' || address === '::1') return true;
  const ipv4 = address.toLowerCase().startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
  return ipv4.startsWith('127.') && isIPv4(ipv4);
}
