import { isIPv4 } from 'node:net';

/**
 * True for addresses that only this machine reaches. It does not prove who connects: an agent or a proxy may forward
 * requests of others.
 */
export function isLoopback(address: string): boolean {
  if (address === 'localhost' || address === '::1') return true;
  const ipv4 = address.toLowerCase().startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
  return ipv4.startsWith('127.') && isIPv4(ipv4);
}
