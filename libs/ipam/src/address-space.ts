import { formatAddress, parseAddress, type IpAddress } from './address';
import type { AddressRange } from './range';

interface NumberedRange extends AddressRange {
  readonly start: bigint;
}

/** Numbers the addresses of some disjoint ranges from 0 on, in their order, without listing them. */
export class AddressSpace {
  readonly size: bigint;
  private readonly pieces: readonly NumberedRange[];

  constructor(ranges: readonly AddressRange[]) {
    let start = 0n;
    this.pieces = ranges.map((range) => {
      const piece = { ...range, start };
      start += range.last - range.first + 1n;
      return piece;
    });
    this.size = start;
  }

  /** The number of an address; undefined when it is none of this space's. */
  numberOf(ip: string): bigint | undefined {
    const address = parseAddress(ip);
    const piece = address && this.pieces.find((candidate) => isIn(candidate, address));
    return piece && piece.start + address.value - piece.first;
  }

  /** The address with number `n`; throws RangeError when there is none. */
  addressOf(n: bigint): string {
    const piece = this.pieces.find(({ start, first, last }) => n >= start && n - start <= last - first);
    if (!piece) throw new RangeError(`there is no address ${n} among ${this.size}`);
    return formatAddress({ family: piece.family, value: piece.first + n - piece.start });
  }
}

function isIn({ family, first, last }: AddressRange, address: IpAddress): boolean {
  return family === address.family && first <= address.value && address.value <= last;
}
