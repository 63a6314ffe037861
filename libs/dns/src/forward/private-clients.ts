import { BlockList, isIPv6 } from 'node:net';

const PRIVATE_RANGES = new BlockList();
PRIVATE_RANGES.addSubnet('127.0.0.0', 8);
PRIVATE_RANGES.addSubnet('10.0.0.0', 8);
PRIVATE_RANGES.addSubnet('172.16.0.0', 12);
PRIVATE_RANGES.addSubnet('192.168.0.0', 16);
PRIVATE_RANGES.addSubnet('169.254.0.0', 16);
PRIVATE_RANGES.addAddress('::1', 'ipv6');
PRIVATE_RANGES.addSubnet('fc00::', 7, 'ipv6');
PRIVATE_RANGES.addSubnet('fe80::', 10, 'ipv6');

/** True for loopback, private and link-local addresses (RFC 1918, 3927, 4193, 4291), mapped ones included. */
export function isPrivate(address: string): boolean {
  const [plain = ''] = address.split('%');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1];
  const ip = mapped ?? plain;
  return PRIVATE_RANGES.check(ip, isIPv6(ip) ? 'ipv6' : 'ipv4');
}

const MOST_REMEMBERED = 4_096;

/** `isPrivate` with a short memory: it is asked for every answer, and the same askers come again and again. */
export class PrivateClients {
  private known = new Map<string, boolean>();

  isPrivate(address: string): boolean {
    const remembered = this.known.get(address);
    if (remembered !== undefined) return remembered;
    if (this.known.size >= MOST_REMEMBERED) this.known = new Map();
    const found = isPrivate(address);
    this.known.set(address, found);
    return found;
  }
}
