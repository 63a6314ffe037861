/** A packet with its length in front (RFC 1035 §4.2.2). */
export function frame(packet: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(packet.length + 2);
  framed.writeUInt16BE(packet.length, 0);
  packet.copy(framed, 2);
  return framed;
}

/** Cuts a stream into packets. Keeps at most one unfinished packet; joins pieces only when one is complete. */
export class FrameReader {
  private pieces: Buffer[] = [];
  private held = 0;
  private wanted = 2;

  /** The packets that are complete with this chunk. */
  read(chunk: Buffer): Buffer[] {
    this.pieces.push(chunk);
    this.held += chunk.length;
    if (this.held < this.wanted) return [];
    let stream = this.pieces.length === 1 ? chunk : Buffer.concat(this.pieces);
    const packets: Buffer[] = [];
    while (stream.length >= 2 && stream.length >= 2 + stream.readUInt16BE(0)) {
      const end = 2 + stream.readUInt16BE(0);
      packets.push(stream.subarray(2, end));
      stream = stream.subarray(end);
    }
    this.pieces = stream.length === 0 ? [] : [stream];
    this.held = stream.length;
    this.wanted = stream.length < 2 ? 2 : 2 + stream.readUInt16BE(0);
    return packets;
  }
}
