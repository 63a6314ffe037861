import type { Clock, Timer } from '@causeway/runtime';
import type { DnsMetrics } from '../dns-metrics';
import { Class, Rcode } from '../wire/codes';
import { codeOnly, type EncodedAnswer } from '../wire/encoded-answer';
import { readQuestion, type Question } from '../wire/question';
import { writeReply } from '../wire/reply';
import type { Answers } from './answers';

/** Client that sent a packet, and its transport. */
export interface DnsClient {
  readonly udp: boolean;
  /** The client's IP address. */
  readonly address: string;
}

/** Resolves the names for which this server is not authoritative. */
export interface RecursiveResolver {
  /** True if the server offers recursion to this client (the bit RA). */
  isOfferedTo(client: DnsClient): boolean;
  /** Returns the reply; undefined if the query must be refused. */
  resolve(packet: Buffer, question: Question, client: DnsClient): Promise<Buffer> | undefined;
}

/** The packet to send, a promise of it, or undefined if there is no reply. */
export type ReplyResult = Buffer | Promise<Buffer> | undefined;

/** Dependencies of a responder. */
export interface ResponderParts {
  readonly metrics: DnsMetrics;
  readonly resolver: RecursiveResolver;
  readonly rateLimit: RateLimit;
  readonly clock: Clock;
}

/** Every 16th authoritative answer is timed: reading the clock costs more than the answer. */
const SAMPLE = 16;

/** Builds the reply packet for a query packet. */
export class Responder {
  private readonly refused = codeOnly(Rcode.REFUSED);
  private readonly badVersion = codeOnly(Rcode.BADVERS);
  private turn = 0;

  constructor(
    private readonly answers: Pick<Answers, 'find'>,
    private readonly parts: ResponderParts,
  ) {}

  /** Returns the reply; undefined for packets that are not queries and for clients above the rate limit. */
  respond(packet: Buffer, client: DnsClient): ReplyResult {
    const { rateLimit, metrics, clock } = this.parts;
    if (!rateLimit.admits(client.address)) {
      metrics.dropped('rate');
      return undefined;
    }
    this.turn = (this.turn + 1) % SAMPLE;
    if (this.turn !== 0) return this.handle(packet, client);
    const began = clock.elapsed();
    const reply = this.handle(packet, client);
    if (Buffer.isBuffer(reply)) metrics.ownLatency.observe(clock.elapsed() - began);
    return reply;
  }

  private handle(packet: Buffer, client: DnsClient): ReplyResult {
    const { metrics, resolver } = this.parts;
    const question = readQuestion(packet);
    if (question === 'drop') {
      metrics.dropped('malformed');
      return undefined;
    }
    if ('rcode' in question) {
      metrics.answered(0, question.rcode);
      return this.reply(packet, codeOnly(question.rcode), { end: question.end, edns: undefined, client });
    }
    const found = this.find(question);
    if (found) return this.answerWith(packet, question, { found, client });
    return (
      resolver.resolve(packet, question, client) ?? this.answerWith(packet, question, { found: this.refused, client })
    );
  }

  /** Returns an answer that needs no upstream; undefined for names of other servers. */
  private find(question: Question): EncodedAnswer | undefined {
    if (question.edns && question.edns.version > 0) return this.badVersion;
    if (question.class !== Class.IN && question.class !== Class.ANY) return this.refused;
    return this.answers.find(question.name, question.type);
  }

  private answerWith(
    packet: Buffer,
    question: Question,
    given: { readonly found: EncodedAnswer; readonly client: DnsClient },
  ): Buffer {
    this.parts.metrics.answered(question.type, given.found.rcode);
    return this.reply(packet, given.found, { end: question.end, edns: question.edns, client: given.client });
  }

  private reply(
    packet: Buffer,
    found: EncodedAnswer,
    shape: { readonly end: number; readonly edns: Question['edns']; readonly client: DnsClient },
  ): Buffer {
    const recursion = this.parts.resolver.isOfferedTo(shape.client);
    return writeReply(packet, found, { end: shape.end, edns: shape.edns, udp: shape.client.udp, recursion });
  }
}

const WINDOW = 1_000;
const MAX_CLIENTS = 65_536;

/** Counts the queries of each client in windows of one second. */
export class RateLimit {
  private counts = new Map<string, number>();
  private timer: Timer | undefined;

  /** `limit`: maximum number of queries of one address per second; 0 = no limit. */
  constructor(
    private readonly limit: number,
    private readonly clock: Clock,
  ) {}

  /** Counts a query; false if the client is above the limit. */
  admits(address: string): boolean {
    if (this.limit === 0) return true;
    const count = (this.counts.get(address) ?? 0) + 1;
    if (count > this.limit) return false;
    // Forged addresses must not exhaust memory; clients beyond the maximum are not limited.
    if (count > 1 || this.counts.size < MAX_CLIENTS) this.counts.set(address, count);
    this.timer ??= this.clock.after(WINDOW, () => this.nextWindow());
    return true;
  }

  /** Number of clients counted in this window. */
  get size(): number {
    return this.counts.size;
  }

  close(): void {
    this.timer?.cancel();
  }

  private nextWindow(): void {
    this.counts = new Map();
    this.timer = undefined;
  }
}
