/** `address:port` of this machine. */
export interface LocalAddress {
  readonly address: string;
  readonly port: number;
}

/** Address family with its names in nft and ip. */
export interface IpFamily {
  readonly ip: 'ip' | 'ip6';
  readonly type: 'ipv4_addr' | 'ipv6_addr';
  readonly set: '4' | '6';
}
