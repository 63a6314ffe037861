import { encode, type Answer } from 'dns-packet';

const HEADER = 12;
const TO_QUESTION = Buffer.from([0xc0, HEADER]);

/** Says a record about the name that was asked: its owner is a pointer to the question. */
export function aboutQuestion(record: Answer): Buffer {
  const encoded = encodeOne({ ...record, name: '.' });
  return Buffer.concat([TO_QUESTION, encoded.subarray(1)]);
}

/** Says a record about the name it carries. */
export function encodeOne(record: Answer): Buffer {
  return encode({ type: 'response', answers: [record] }).subarray(HEADER);
}

/** A character-string holds 255 octets (RFC 1035 §3.3). */
export function characterString(text: string): string {
  return text.slice(0, 255);
}
