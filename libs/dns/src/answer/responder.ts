import { Class, Rcode } from '../wire/codes';
import { readQuestion, type Question } from '../wire/question';
import { writeReply } from '../wire/reply';
import type { Answers } from './answers';
import { bare, type FinishedAnswer } from './finished-answer';
import type { Tally } from './tally';

/** How a question came. */
export interface Arrival {
  readonly udp: boolean;
  /** The asker's address. */
  readonly address: string;
}

/** Who answers what is not ours: undefined = refuse. */
export type Beyond = (packet: Buffer, question: Question, arrival: Arrival) => Promise<Buffer> | undefined;

/** A packet to send, a promise of one, or nothing to say. */
export type Outcome = Buffer | Promise<Buffer> | undefined;

/** From the octets of a question to those of its answer. */
export class Responder {
  private readonly refused = bare(Rcode.REFUSED);
  private readonly badVersion = bare(Rcode.BADVERS);

  constructor(
    private readonly answers: Answers,
    private readonly tally: Tally,
    private readonly beyond: { readonly offered: (arrival: Arrival) => boolean; readonly ask: Beyond },
  ) {}

  respond(packet: Buffer, arrival: Arrival): Outcome {
    const question = readQuestion(packet);
    if (question === 'drop') {
      this.tally.dropped('malformed');
      return undefined;
    }
    if ('rcode' in question) {
      this.tally.answered(0, question.rcode);
      return this.reply(packet, bare(question.rcode), { end: question.end, edns: undefined, arrival });
    }
    const found = this.find(question);
    if (found) return this.give(packet, question, { found, arrival });
    return this.beyond.ask(packet, question, arrival) ?? this.give(packet, question, { found: this.refused, arrival });
  }

  /** The answer that needs nobody else. */
  private find(question: Question): FinishedAnswer | undefined {
    if (question.edns && question.edns.version > 0) return this.badVersion;
    if (question.class !== Class.IN && question.class !== Class.ANY) return this.refused;
    return this.answers.find(question.name, question.type);
  }

  private give(
    packet: Buffer,
    question: Question,
    given: { readonly found: FinishedAnswer; readonly arrival: Arrival },
  ): Buffer {
    this.tally.answered(question.type, given.found.rcode);
    return this.reply(packet, given.found, { end: question.end, edns: question.edns, arrival: given.arrival });
  }

  private reply(
    packet: Buffer,
    found: FinishedAnswer,
    shape: { readonly end: number; readonly edns: Question['edns']; readonly arrival: Arrival },
  ): Buffer {
    const recursion = this.beyond.offered(shape.arrival);
    return writeReply(packet, found, { end: shape.end, edns: shape.edns, udp: shape.arrival.udp, recursion });
  }
}
