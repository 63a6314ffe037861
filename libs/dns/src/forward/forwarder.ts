import { BlockList, isIPv6 } from 'node:net';
import type { Clock } from '@causeway/runtime';
import type { DnsClient } from '../answer/responder';
import type { ForwardConfig } from '../dns-config';
import type { ForwardResult } from '../dns-metrics';
import { Rcode } from '../wire/codes';
import { codeOnly } from '../wire/encoded-answer';
import type { Question } from '../wire/question';
import { writeReply, type ReplyFormat } from '../wire/reply';
import { askTcp, askUdp } from './ask-upstream';
import { isTruncated, isWorthAnotherTry, replyFromUpstream, buildUpstreamQuery } from './upstream-messages';
import type { Resolver, Resolvers } from './resolvers';

/** Dependencies of a forwarder. */
export interface ForwarderOptions {
  readonly config: ForwardConfig;
  readonly upstreams: Resolvers;
  readonly clock: Clock;
  /** Called once for each forwarded query with its result and duration in ms. */
  readonly onSettled: (result: ForwardResult, took: number) => void;
}

/**
 * Forwards queries for other names to the upstreams (docs/design.md §6). Equal pending queries share one upstream
 * query, so a stampede, or a loop in which an upstream asks this server, costs one query.
 */
export class Forwarder {
  private readonly privateClients = new PrivateClients();
  private readonly underWay = new Map<string, Promise<Buffer | undefined>>();
  private readonly perClient = new Map<string, number>();

  constructor(private readonly options: ForwarderOptions) {}

  /** Number of pending upstream queries. */
  get pending(): number {
    return this.underWay.size;
  }

  /** True if queries of this client are forwarded. */
  isOfferedTo({ address }: DnsClient): boolean {
    const { config, upstreams } = this.options;
    return (
      config.enabled && upstreams.list().length > 0 && (config.publicClients || this.privateClients.isPrivate(address))
    );
  }

  /** Returns the upstream's answer; undefined if the query is not forwarded. Never rejects: a failure is SERVFAIL. */
  resolve(packet: Buffer, question: Question, client: DnsClient): Promise<Buffer> | undefined {
    // A client that does not set RD wants only this server's own names, and the name is not one of them.
    const wanted = (packet.readUInt8(2) & 0x01) !== 0;
    return wanted && this.isOfferedTo(client) ? this.forward(packet, question, client) : undefined;
  }

  private async forward(packet: Buffer, question: Question, client: DnsClient): Promise<Buffer> {
    const shape = { end: question.end, edns: question.edns, udp: client.udp, recursion: true };
    const began = this.options.clock.elapsed();
    const asking = this.admit(packet, question, client);
    if (!asking) {
      this.options.onSettled('limit', 0);
      return servfail(packet, shape);
    }
    const answer = await asking;
    this.options.onSettled(answer ? 'answered' : 'failed', this.options.clock.elapsed() - began);
    return answer ? replyFromUpstream(answer, packet, shape) : servfail(packet, shape);
  }

  /** Joins an equal pending query or starts one; undefined above the limits. */
  private admit(packet: Buffer, question: Question, { address }: DnsClient): Promise<Buffer | undefined> | undefined {
    const { pending, pendingPerClient } = this.options.config;
    const own = this.perClient.get(address) ?? 0;
    if (own >= pendingPerClient) return undefined;
    const key = queryKey(packet, question);
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

  /** Queries one upstream after the other until one answers; otherwise returns the last refusal. */
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

  private async askUpstream(upstream: Resolver, packet: Buffer, question: Question): Promise<Buffer> {
    const { clock, config } = this.options;
    // Every attempt has a new id and a new port, which an attacker who forges answers must guess again.
    const query = buildUpstreamQuery(packet, question);
    const answer = await askUdp(upstream, query, { clock, timeout: config.timeout });
    if (!isTruncated(answer)) return answer;
    return askTcp(upstream, query, { clock, timeout: config.timeout });
  }
}

/** Returns a key that is equal for queries with the same answer: name, type, class, and the client's RD, AD, CD, EDNS and DO. */
function queryKey(packet: Buffer, { name, type, class: cls, edns }: Question): string {
  const flags = (packet.readUInt8(2) & 1) | (packet.readUInt8(3) & 0x30);
  return `${type} ${cls} ${flags} ${edns ? Number(edns.dnssec) : '-'} ${name}`;
}

function servfail(packet: Buffer, shape: ReplyFormat): Buffer {
  return writeReply(packet, codeOnly(Rcode.SERVFAIL), shape);
}

const PRIVATE_RANGES = new BlockList();
PRIVATE_RANGES.addSubnet('127.0.0.0', 8);
PRIVATE_RANGES.addSubnet('10.0.0.0', 8);
PRIVATE_RANGES.addSubnet('172.16.0.0', 12);
PRIVATE_RANGES.addSubnet('192.168.0.0', 16);
PRIVATE_RANGES.addSubnet('169.254.0.0', 16);
PRIVATE_RANGES.addAddress('::1', 'ipv6');
PRIVATE_RANGES.addSubnet('fc00::', 7, 'ipv6');
PRIVATE_RANGES.addSubnet('fe80::', 10, 'ipv6');

/** True for loopback, private and link-local addresses (RFC 1918, 3927, 4193, 4291), IPv4-mapped ones included. */
export function isPrivate(address: string): boolean {
  const [plain = ''] = address.split('%');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1];
  const ip = mapped ?? plain;
  return PRIVATE_RANGES.check(ip, isIPv6(ip) ? 'ipv6' : 'ipv4');
}

const MAX_REMEMBERED = 4_096;

/** `isPrivate` with a small cache: it is called for every reply, mostly for the same clients. */
class PrivateClients {
  private known = new Map<string, boolean>();

  isPrivate(address: string): boolean {
    const remembered = this.known.get(address);
    if (remembered !== undefined) return remembered;
    if (this.known.size >= MAX_REMEMBERED) this.known = new Map();
    const found = isPrivate(address);
    this.known.set(address, found);
    return found;
  }
}
