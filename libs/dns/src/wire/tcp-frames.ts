/** A packet with its length in front (RFC 1035 §4.2.2). */
export function frame(packet: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(packet.length + 2);
  framed.writeUInt16BE(packet.length, 0);
  packet.copy(framed, 2);
  return framed;
}

/** Cuts a stream into packets. Keeps at most one unfinished packet, in one piece however small its pieces come. */
export class FrameReader {
  /** The unfinished packet with its length in front; as long as both once the length is known. */
  private unfinished = Buffer.alloc(0);
  private held = 0;

  /** The packets that are complete with this chunk. */
  read(chunk: Buffer): Buffer[] {
    const packets: Buffer[] = [];
    let rest = chunk;
    while (rest.length > 0) {
      if (this.held === 0 && rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE(0)) {
        const end = 2 + rest.readUInt16BE(0);
        packets.push(rest.subarray(2, end));
        rest = rest.subarray(end);
        continue;
      }
      rest = rest.subarray(this.take(rest));
      const packet = this.finished();
      if (packet) packets.push(packet);
    }
    return packets;
  }

  /** Keeps what of `piece` belongs to the packet that began; the number of octets. */
  private take(piece: Buffer): number {
    if (this.held < 2) {
      if (this.held === 0) this.unfinished = Buffer.alloc(2);
      this.unfinished[this.held] = piece[0] ?? 0;
      this.held += 1;
      if (this.held === 2) this.unfinished = this.grown(2 + this.unfinished.readUInt16BE(0));
      return 1;
    }
    const taken = piece.copy(this.unfinished, this.held);
    this.held += taken;
    return taken;
  }

  private grown(size: number): Buffer<ArrayBuffer> {
    const whole = Buffer.alloc(size);
    this.unfinished.copy(whole, 0, 0, this.held);
    return whole;
  }

  private finished(): Buffer | undefined {
    if (this.held < 2 || this.held < this.unfinished.length) return undefined;
    const packet = this.unfinished.subarray(2);
    this.unfinished = Buffer.alloc(0);
    this.held = 0;
    return packet;
  }
}
