import { readFile } from 'node:fs/promises';
import { errorText, type Clock, type Logger } from '@causeway/runtime';
import type { ForwardConfig } from '../dns-config';
import { parseUpstream, readResolverFile, type UpstreamAddress } from './upstream-address';

/** A resolver to which queries are forwarded, with its health. */
export interface Resolver extends UpstreamAddress {
  readonly label: string;
  /** Number of failures since the last answer. */
  failures: number;
  /** End of the cooldown by the clock's `elapsed`; until then other upstreams are queried first. 0 = healthy. */
  coolingUntil: number;
  answered: number;
  failed: number;
}

/** Sources of the upstreams. */
export interface UpstreamSources {
  readonly config: ForwardConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  /** True for the addresses of this server. */
  readonly isOwnAddress: (address: string, port: number) => boolean;
}

/** Interval at which the list is read again, ms. */
const REREAD = 10_000;
const FAILURES_TO_COOLDOWN = 2;
const MAX_COOLDOWN = 30_000;

/** Resolvers for other names: the configured ones, else those of the resolver configuration; never this server. */
export class Resolvers {
  private all: Resolver[] = [];
  private readAt = -Infinity;

  constructor(private readonly sources: UpstreamSources) {}

  /** Reads the list. If the resolver configuration cannot be read, keeps the list, and warns if it is empty. */
  async load(): Promise<void> {
    const { config, clock } = this.sources;
    this.readAt = clock.elapsed();
    if (!config.enabled) return;
    const given = config.upstreams.length > 0 ? parseAll(config.upstreams) : await this.readFile(config.resolverFile);
    const others = given.filter(({ address, port }) => !this.sources.isOwnAddress(address, port));
    this.all = others.map((each) => this.all.find((known) => sameAddress(known, each)) ?? newUpstream(each));
  }

  list(): readonly Resolver[] {
    return this.all;
  }

  /** Returns the order of queries: healthy upstreams as listed, then those in cooldown, the earliest end first. */
  inOrder(): readonly Resolver[] {
    const now = this.sources.clock.elapsed();
    if (now - this.readAt > REREAD) void this.load();
    const cooling = this.all.filter((each) => each.coolingUntil > now).sort((a, b) => a.coolingUntil - b.coolingUntil);
    return [...this.all.filter((each) => each.coolingUntil <= now), ...cooling];
  }

  answered(upstream: Resolver): void {
    if (upstream.failures >= FAILURES_TO_COOLDOWN)
      this.sources.logger.info('upstream answers again', { upstream: upstream.label });
    upstream.answered += 1;
    upstream.failures = 0;
    upstream.coolingUntil = 0;
  }

  failed(upstream: Resolver, reason: unknown): void {
    upstream.failed += 1;
    upstream.failures += 1;
    if (upstream.failures < FAILURES_TO_COOLDOWN) return;
    const cooldown = Math.min(MAX_COOLDOWN, 1_000 * 2 ** (upstream.failures - FAILURES_TO_COOLDOWN));
    upstream.coolingUntil = this.sources.clock.elapsed() + cooldown;
    if (upstream.failures > FAILURES_TO_COOLDOWN) return;
    this.sources.logger.warn('upstream does not answer', { upstream: upstream.label, reason: errorText(reason) });
  }

  private async readFile(path: string): Promise<UpstreamAddress[]> {
    try {
      return readResolverFile(await readFile(path, 'utf8'));
    } catch (error) {
      if (this.all.length > 0) return this.all;
      this.sources.logger.warn('no upstreams: the resolver configuration cannot be read', { reason: errorText(error) });
      return [];
    }
  }
}

function parseAll(texts: readonly string[]): UpstreamAddress[] {
  return texts.flatMap((text) => parseUpstream(text) ?? []);
}

function sameAddress(a: UpstreamAddress, b: UpstreamAddress): boolean {
  return a.address === b.address && a.port === b.port;
}

function newUpstream({ address, port }: UpstreamAddress): Resolver {
  const label = address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
  return { address, port, label, failures: 0, coolingUntil: 0, answered: 0, failed: 0 };
}
