const FRAME_HEAD = 9;
const MESSAGE_HEAD = 5;
const DATA = 0;

/** Counts the gRPC messages in one direction of an HTTP/2 connection in plain text, keeping none of their bytes. */
export class GrpcMessages {
  count = 0;
  private readonly head: number[] = [];
  private frame = { left: 0, isOfMessages: false, stream: 0 };
  private readonly streams = new Map<number, MessageCut>();

  /** @param skip bytes before the first frame: a client begins with a preface. */
  constructor(private skip: number) {}

  /** Takes in what passes, however it is cut. */
  take(bytes: Uint8Array): void {
    let at = Math.min(this.skip, bytes.length);
    this.skip -= at;
    while (at < bytes.length) {
      if (this.frame.left === 0) {
        this.head.push(bytes[at++] ?? 0);
        if (this.head.length === FRAME_HEAD) this.frame = this.begin(this.head.splice(0));
      } else {
        const part = bytes.subarray(at, at + this.frame.left);
        if (this.frame.isOfMessages) this.count += this.cutOf(this.frame.stream).take(part);
        this.frame.left -= part.length;
        at += part.length;
      }
    }
  }

  private begin(head: readonly number[]): typeof this.frame {
    const [a = 0, b = 0, c = 0, type = 0, , ...stream] = head;
    const number = stream.reduce((sum, byte) => sum * 256 + byte, 0);
    return { left: (a << 16) | (b << 8) | c, isOfMessages: type === DATA, stream: number };
  }

  private cutOf(stream: number): MessageCut {
    const known = this.streams.get(stream) ?? new MessageCut();
    this.streams.set(stream, known);
    return known;
  }
}

/** Finds the ends of gRPC messages in a stream of bytes. */
class MessageCut {
  private readonly head: number[] = [];
  private left = 0;

  /** Returns how many messages begin in these bytes. */
  take(bytes: Uint8Array): number {
    let begun = 0;
    for (let at = 0; at < bytes.length;) {
      if (this.left > 0) {
        const skipped = Math.min(this.left, bytes.length - at);
        this.left -= skipped;
        at += skipped;
        continue;
      }
      this.head.push(bytes[at++] ?? 0);
      if (this.head.length < MESSAGE_HEAD) continue;
      const [, ...length] = this.head.splice(0);
      this.left = length.reduce((sum, byte) => sum * 256 + byte, 0);
      begun += 1;
    }
    return begun;
  }
}
