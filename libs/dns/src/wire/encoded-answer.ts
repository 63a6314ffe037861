/**
 * Everything of an answer that comes after the question, ready to be copied behind any asker's header and question.
 * Records about the name that was asked point to the question, so its spelling is the asker's.
 */
export interface EncodedAnswer {
  readonly rcode: number;
  readonly authoritative: boolean;
  readonly answers: number;
  readonly authorities: number;
  readonly additionals: number;
  readonly body: Buffer;
  /** Where in `body` the additional records begin; they may be left out where they do not fit. */
  readonly core: number;
}

const EMPTY = Buffer.alloc(0);

/** An answer that is only a response code. */
export function codeOnly(rcode: number): EncodedAnswer {
  return { rcode, authoritative: false, answers: 0, authorities: 0, additionals: 0, body: EMPTY, core: 0 };
}

/** Encoded records by section. */
export interface Sections {
  readonly answers?: readonly Buffer[];
  readonly authorities?: readonly Buffer[];
  readonly additionals?: readonly Buffer[];
}

/** Puts encoded records together. */
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
