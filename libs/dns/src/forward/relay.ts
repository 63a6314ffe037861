import { Rcode } from '../wire/codes';
import { sizeLimit, writeReply, type ReplyShape } from '../wire/reply';

const HEADER = 12;
const RECURSION_AVAILABLE = 0x80;

/** An upstream's answer as the asker gets it: its id, its spelling, cut with TC where it does not fit. */
export function replyFromUpstream(answer: Buffer, packet: Buffer, shape: ReplyShape): Buffer {
  const rcode = answer.readUInt8(3) & 0x0f;
  if (answer.length > sizeLimit(shape.edns, shape.udp)) {
    const body = answer.subarray(shape.end);
    const cut = { rcode, authoritative: false, answers: 0, authorities: 0, additionals: 0, body, core: body.length };
    return writeReply(packet, cut, shape);
  }
  const out = Buffer.from(answer);
  packet.copy(out, 0, 0, 2);
  out[3] = answer.readUInt8(3) | RECURSION_AVAILABLE;
  packet.copy(out, HEADER, HEADER, shape.end);
  return out;
}

/** True for answers that say more of the upstream than of the name; another one may know. */
export function isWorthAnotherTry(answer: Buffer): boolean {
  const rcode = answer.readUInt8(3) & 0x0f;
  return rcode === Rcode.SERVFAIL || rcode === Rcode.REFUSED || rcode === Rcode.NOTIMP;
}
