import type { Clock } from '@causeway/runtime';
import type { RateLimit } from '../doors/rate-limit';
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

/** Who answers what is not ours. */
export interface Beyond {
  /** Whether this asker may have names looked up elsewhere. */
  offered(arrival: Arrival): boolean;
  /** Undefined = refused. */
  ask(packet: Buffer, question: Question, arrival: Arrival): Promise<Buffer> | undefined;
}

/** A packet to send, a promise of one, or nothing to say. */
export type Outcome = Buffer | Promise<Buffer> | undefined;

/** What a responder works with besides answers. */
export interface ResponderParts {
  readonly tally: Tally;
  readonly beyond: Beyond;
  readonly rate: RateLimit;
  readonly clock: Clock;
}

/** One answer of our own in so many is timed: the clock would cost more than the answer. */
const SAMPLE = 16;

/** From the octets of a question to those of its answer. */
export class Responder {
  private readonly refused = bare(Rcode.REFUSED);
  private readonly badVersion = bare(Rcode.BADVERS);
  private turn = 0;

  constructor(
    private readonly answers: Answers,
    private readonly parts: ResponderParts,
  ) {}

  /** The answer, now or later; none where the packet deserves none or its asker has had too many. */
  respond(packet: Buffer, arrival: Arrival): Outcome {
    const { rate, tally, clock } = this.parts;
    if (!rate.admits(arrival.address)) {
      tally.dropped('rate');
      return undefined;
    }
    this.turn = (this.turn + 1) % SAMPLE;
    if (this.turn !== 0) return this.judge(packet, arrival);
    const began = clock.elapsed();
    const outcome = this.judge(packet, arrival);
    if (Buffer.isBuffer(outcome)) tally.own.observe(clock.elapsed() - began);
    return outcome;
  }

  private judge(packet: Buffer, arrival: Arrival): Outcome {
    const { tally, beyond } = this.parts;
    const question = readQuestion(packet);
    if (question === 'drop') {
      tally.dropped('malformed');
      return undefined;
    }
    if ('rcode' in question) {
      tally.answered(0, question.rcode);
      return this.reply(packet, bare(question.rcode), { end: question.end, edns: undefined, arrival });
    }
    const found = this.find(question);
    if (found) return this.give(packet, question, { found, arrival });
    return beyond.ask(packet, question, arrival) ?? this.give(packet, question, { found: this.refused, arrival });
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
    this.parts.tally.answered(question.type, given.found.rcode);
    return this.reply(packet, given.found, { end: question.end, edns: question.edns, arrival: given.arrival });
  }

  private reply(
    packet: Buffer,
    found: FinishedAnswer,
    shape: { readonly end: number; readonly edns: Question['edns']; readonly arrival: Arrival },
  ): Buffer {
    const recursion = this.parts.beyond.offered(shape.arrival);
    return writeReply(packet, found, { end: shape.end, edns: shape.edns, udp: shape.arrival.udp, recursion });
  }
}
