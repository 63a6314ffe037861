import type { Clock } from '@causeway/runtime';
import type { DnsClient } from '../answer/responder';
import { codeOnly } from '../wire/encoded-answer';
import type { ForwardConfig } from '../dns-config';
import { Rcode } from '../wire/codes';
import type { Question } from '../wire/question';
import { writeReply, type ReplyShape } from '../wire/reply';
import { askTcp } from './ask-tcp';
import { askUdp } from './ask-udp';
import type { ForwardResult } from './forward-result';
import { PrivateClients } from './private-clients';
import { isWorthAnotherTry, replyFromUpstream } from './relay';
import { isTruncated, upstreamQuery } from './upstream-query';
import type { Upstream, Upstreams } from './upstreams';

/** What a forwarder works with. */
export interface ForwarderOptions {
  readonly config: ForwardConfig;
  readonly upstreams: Upstreams;
  readonly clock: Clock;
  /** Told of each question: how it ended and how long it took, ms. */
  readonly settled: (result: ForwardResult, took: number) => void;
}

/**
 * Asks others what is not ours (design.md §6 DNS). Askers of one and the same question at one time
 * share its answer: a stampede costs one question, and so does a circle in which an upstream asks us.
 */
export class Forwarder {
  private readonly privateClients = new PrivateClients();
  private readonly underWay = new Map<string, Promise<Buffer | undefined>>();
  private readonly perClient = new Map<string, number>();

  constructor(private readonly options: ForwarderOptions) {}

  get pending(): number {
    return this.underWay.size;
  }

  /** True when we would ask others for this asker. */
  isOfferedTo({ address }: DnsClient): boolean {
    const { config, upstreams } = this.options;
    return (
      config.enabled && upstreams.list().length > 0 && (config.publicAskers || this.privateClients.isPrivate(address))
    );
  }

  /** The answer of others; undefined when this asker gets none from us. Never rejects: what fails is SERVFAIL. */
  resolve(packet: Buffer, question: Question, arrival: DnsClient): Promise<Buffer> | undefined {
    // Without RD the asker wants to hear what we know ourselves, which is nothing.
    const wanted = (packet.readUInt8(2) & 0x01) !== 0;
    return wanted && this.isOfferedTo(arrival) ? this.forward(packet, question, arrival) : undefined;
  }

  private async forward(packet: Buffer, question: Question, arrival: DnsClient): Promise<Buffer> {
    const shape = { end: question.end, edns: question.edns, udp: arrival.udp, recursion: true };
    const began = this.options.clock.elapsed();
    const asking = this.admit(packet, question, arrival);
    if (!asking) {
      this.options.settled('limit', 0);
      return servfail(packet, shape);
    }
    const answer = await asking;
    this.options.settled(answer ? 'answered' : 'failed', this.options.clock.elapsed() - began);
    return answer ? replyFromUpstream(answer, packet, shape) : servfail(packet, shape);
  }

  /** Joins the same question under way or begins it; undefined above the limits. */
  private admit(packet: Buffer, question: Question, { address }: DnsClient): Promise<Buffer | undefined> | undefined {
    const { pending, pendingPerAsker } = this.options.config;
    const own = this.perClient.get(address) ?? 0;
    if (own >= pendingPerAsker) return undefined;
    const key = questionKey(packet, question);
    let asking = this.underWay.get(key);
    if (!asking) {
      if (this.underWay.size >= pending) return undefined;
      asking = this.tryUpstreams(packet, question).finally(() => this.underWay.delete(key));
      this.underWay.set(key, asking);
    }
    this.perClient.set(address, own + 1);
    return asking.finally(() => this.leave(address));
  }

  private leave(address: string): void {
    const left = (this.perClient.get(address) ?? 1) - 1;
    if (left > 0) this.perClient.set(address, left);
    else this.perClient.delete(address);
  }

  /** One upstream after the other until one answers; the last refusal when none does better. */
  private async tryUpstreams(packet: Buffer, question: Question): Promise<Buffer | undefined> {
    const { upstreams, config } = this.options;
    const order = upstreams.inOrder();
    let refusal: Buffer | undefined;
    for (let tries = 0; tries < config.tries; tries++) {
      const upstream = order[tries % order.length];
      if (!upstream) return undefined;
      try {
        const answer = await this.askUpstream(upstream, packet, question);
        upstreams.answered(upstream);
        if (!isWorthAnotherTry(answer) || order.length === 1) return answer;
        refusal = answer;
      } catch (error) {
        upstreams.failed(upstream, error);
      }
    }
    return refusal;
  }

  private async askUpstream(upstream: Upstream, packet: Buffer, question: Question): Promise<Buffer> {
    const { clock, config } = this.options;
    // A new id and a new port for every try: a forger has to guess both anew.
    const query = upstreamQuery(packet, question);
    const answer = await askUdp(upstream, query, { clock, timeout: config.timeout });
    if (!isTruncated(answer)) return answer;
    return askTcp(upstream, query, { clock, timeout: config.timeout });
  }
}

/** Questions that one answer fits: name, type, class, and the asker's RD, AD, CD, EDNS and DO. */
function questionKey(packet: Buffer, { name, type, class: cls, edns }: Question): string {
  const wishes = (packet.readUInt8(2) & 1) | (packet.readUInt8(3) & 0x30);
  return `${type} ${cls} ${wishes} ${edns ? Number(edns.dnssec) : '-'} ${name}`;
}

function servfail(packet: Buffer, shape: ReplyShape): Buffer {
  return writeReply(packet, codeOnly(Rcode.SERVFAIL), shape);
}
