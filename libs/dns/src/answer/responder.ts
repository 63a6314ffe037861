import type { Clock } from '@causeway/runtime';
import type { RateLimit } from '../listen/rate-limit';
import { Class, Rcode } from '../wire/codes';
import { readQuestion, type Question } from '../wire/question';
import { writeReply } from '../wire/reply';
import type { Answers } from './answers';
import { codeOnly, type EncodedAnswer } from '../wire/encoded-answer';
import type { DnsMetrics } from '../dns-metrics';

/** How a question came. */
export interface DnsClient {
  readonly udp: boolean;
  /** The asker's address. */
  readonly address: string;
}

/** Who answers what is not ours. */
export interface RecursiveResolver {
  /** Whether this asker may have names looked up elsewhere. */
  isOfferedTo(arrival: DnsClient): boolean;
  /** Undefined = refused. */
  resolve(packet: Buffer, question: Question, arrival: DnsClient): Promise<Buffer> | undefined;
}

/** A packet to send, a promise of one, or nothing to say. */
export type ReplyResult = Buffer | Promise<Buffer> | undefined;

/** What a responder works with besides answers. */
export interface ResponderParts {
  readonly metrics: DnsMetrics;
  readonly resolver: RecursiveResolver;
  readonly rate: RateLimit;
  readonly clock: Clock;
}

/** One answer of our own in so many is timed: the clock would cost more than the answer. */
const SAMPLE = 16;

/** From the octets of a question to those of its answer. */
export class Responder {
  private readonly refused = codeOnly(Rcode.REFUSED);
  private readonly badVersion = codeOnly(Rcode.BADVERS);
  private turn = 0;

  constructor(
    private readonly answers: Answers,
    private readonly parts: ResponderParts,
  ) {}

  /** The answer, now or later; none where the packet deserves none or its asker has had too many. */
  respond(packet: Buffer, arrival: DnsClient): ReplyResult {
    const { rate, metrics: tally, clock } = this.parts;
    if (!rate.admits(arrival.address)) {
      tally.dropped('rate');
      return undefined;
    }
    this.turn = (this.turn + 1) % SAMPLE;
    if (this.turn !== 0) return this.handle(packet, arrival);
    const began = clock.elapsed();
    const outcome = this.handle(packet, arrival);
    if (Buffer.isBuffer(outcome)) tally.ownLatency.observe(clock.elapsed() - began);
    return outcome;
  }

  private handle(packet: Buffer, arrival: DnsClient): ReplyResult {
    const { metrics: tally, resolver: beyond } = this.parts;
    const question = readQuestion(packet);
    if (question === 'drop') {
      tally.dropped('malformed');
      return undefined;
    }
    if ('rcode' in question) {
      tally.answered(0, question.rcode);
      return this.reply(packet, codeOnly(question.rcode), { end: question.end, edns: undefined, arrival });
    }
    const found = this.find(question);
    if (found) return this.answerWith(packet, question, { found, arrival });
    return (
      beyond.resolve(packet, question, arrival) ?? this.answerWith(packet, question, { found: this.refused, arrival })
    );
  }

  /** The answer that needs nobody else. */
  private find(question: Question): EncodedAnswer | undefined {
    if (question.edns && question.edns.version > 0) return this.badVersion;
    if (question.class !== Class.IN && question.class !== Class.ANY) return this.refused;
    return this.answers.find(question.name, question.type);
  }

  private answerWith(
    packet: Buffer,
    question: Question,
    given: { readonly found: EncodedAnswer; readonly arrival: DnsClient },
  ): Buffer {
    this.parts.metrics.answered(question.type, given.found.rcode);
    return this.reply(packet, given.found, { end: question.end, edns: question.edns, arrival: given.arrival });
  }

  private reply(
    packet: Buffer,
    found: EncodedAnswer,
    shape: { readonly end: number; readonly edns: Question['edns']; readonly arrival: DnsClient },
  ): Buffer {
    const recursion = this.parts.resolver.isOfferedTo(shape.arrival);
    return writeReply(packet, found, { end: shape.end, edns: shape.edns, udp: shape.arrival.udp, recursion });
  }
}
