import { encode, type Answer } from 'dns-packet';

/**
 * The part of an answer after the question, encoded once and copied behind the header and question of each client.
 * Records about the queried name point to the question, so the answer has the client's spelling.
 */
export interface EncodedAnswer {
  readonly rcode: number;
  readonly authoritative: boolean;
  /** Number of records in each section. */
  readonly answers: number;
  readonly authorities: number;
  readonly additionals: number;
  readonly body: Buffer;
  /** Offset of the additional records in `body`; they are left out if they do not fit. */
  readonly core: number;
}

/** Encoded records by section. */
export interface Sections {
  readonly answers?: readonly Buffer[];
  readonly authorities?: readonly Buffer[];
  readonly additionals?: readonly Buffer[];
}

const HEADER = 12;
const TO_QUESTION = Buffer.from([0xc0, HEADER]);
const EMPTY = Buffer.alloc(0);

/** An answer that has a response code and no records. */
export function codeOnly(rcode: number): EncodedAnswer {
  return { rcode, authoritative: false, answers: 0, authorities: 0, additionals: 0, body: EMPTY, core: 0 };
}

/** Joins encoded records to an authoritative answer. */
export function joinSections(rcode: number, sections: Sections): EncodedAnswer {
  const { answers = [], authorities = [], additionals = [] } = sections;
  const main = Buffer.concat([...answers, ...authorities]);
  return {
    rcode,
    authoritative: true,
    answers: answers.length,
    authorities: authorities.length,
    additionals: additionals.length,
    body: additionals.length === 0 ? main : Buffer.concat([main, ...additionals]),
    core: main.length,
  };
}

/** Encodes a record about the queried name: its owner is a pointer to the question. */
export function encodeAboutQuestion(record: Answer): Buffer {
  const encoded = encodeRecord({ ...record, name: '.' });
  return Buffer.concat([TO_QUESTION, encoded.subarray(1)]);
}

/** Encodes a record with its own name as owner. */
export function encodeRecord(record: Answer): Buffer {
  return encode({ type: 'response', answers: [record] }).subarray(HEADER);
}

/** Returns the first 255 octets of `text`: the maximum of a character-string (RFC 1035 §3.3). */
export function characterString(text: string): string {
  return text.slice(0, 255);
}
