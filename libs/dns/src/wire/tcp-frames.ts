/** Returns a packet with its length in front (RFC 1035 §4.2.2). */
export function frameMessage(packet: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(packet.length + 2);
  framed.writeUInt16BE(packet.length, 0);
  packet.copy(framed, 2);
  return framed;
}

/** Splits a stream into packets. It buffers at most one incomplete packet, in one buffer however small the chunks are. */
export class FrameReader {
  /** The incomplete packet with its length in front. The buffer gets its full size once the length is known. */
  private unfinished = Buffer.alloc(0);
  /** Bytes of `unfinished` that are filled. */
  private filled = 0;

  /** Returns the packets that this chunk completes. */
  read(chunk: Buffer): Buffer[] {
    const packets: Buffer[] = [];
    let rest = chunk;
    while (rest.length > 0) {
      if (this.filled === 0 && rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE(0)) {
        const end = 2 + rest.readUInt16BE(0);
        packets.push(rest.subarray(2, end));
        rest = rest.subarray(end);
        continue;
      }
      rest = rest.subarray(this.append(rest));
      const packet = this.finished();
      if (packet) packets.push(packet);
    }
    return packets;
  }

  /** Appends the bytes of `chunk` that belong to the unfinished packet; returns their number. */
  private append(chunk: Buffer): number {
    if (this.filled < 2) {
      if (this.filled === 0) this.unfinished = Buffer.alloc(2);
      this.unfinished[this.filled] = chunk[0] ?? 0;
      this.filled += 1;
      if (this.filled === 2) this.unfinished = this.grown(2 + this.unfinished.readUInt16BE(0));
      return 1;
    }
    const taken = chunk.copy(this.unfinished, this.filled);
    this.filled += taken;
    return taken;
  }

  private grown(size: number): Buffer<ArrayBuffer> {
    const whole = Buffer.alloc(size);
    this.unfinished.copy(whole, 0, 0, this.filled);
    return whole;
  }

  private finished(): Buffer | undefined {
    if (this.filled < 2 || this.filled < this.unfinished.length) return undefined;
    const packet = this.unfinished.subarray(2);
    this.unfinished = Buffer.alloc(0);
    this.filled = 0;
    return packet;
  }
}
