import type { EncodedAnswer } from '../wire/encoded-answer';
import { formatDnsName, type DnsName } from '../wire/dns-name';

/** The top of names that we answer for: a suffix, or a hostname outside all suffixes. */
export class Apex {
  readonly text: string;
  /** Serial the finished answers below carry. */
  serial = -1;
  noData: EncodedAnswer | undefined;
  nxDomain: EncodedAnswer | undefined;

  constructor(
    readonly name: DnsName,
    readonly isSuffix: boolean,
  ) {
    this.text = formatDnsName(name);
  }
}
