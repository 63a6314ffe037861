import { randomBytes } from 'node:crypto';
import type { SealingKeys } from '@causeway/identity';
import { isJsonObject, Unavailable, type JsonObject } from '@causeway/resources';
import { errorText, type Logger } from '@causeway/runtime';
import type { Fence, ResourceStore } from '@causeway/store';

/** The metadata area in which each replica records, by its instance, that it reads the kept token. */
export const ZONE_TOKEN_REPLICAS = 'zone-token-replicas';

/** Metadata belongs to no kind: no list, sync or audit has it (docs/design.md §2.8). */
const ENTRY = { area: 'zone-token', key: 'kept' } as const;

/** Bytes of the secret by which the global tells this holder of a token from another one. */
const SECRET_BYTES = 32;

/** The renewed token that a zone keeps for its replicas. */
export interface KeptToken {
  readonly token: string;
  /** When the zone received it, ms since 1970 by its own clock. */
  readonly receivedAt: number;
}

/** Content of the entry. */
interface KeptContent {
  readonly secret: string;
  readonly kept?: KeptToken;
}

/** Dependencies of a `KeptZoneToken`. */
export interface KeptZoneTokenOptions {
  readonly store: Pick<ResourceStore, 'readMetadata' | 'write'>;
  readonly keys: SealingKeys;
  readonly zone: string;
  readonly logger: Logger;
}

/**
 * The zone token that the leader renewed, and the secret that it renews with, sealed in the zone's store. Every replica reads it, the leader alone
 * writes it, by its fence. Without the sealing key it is as if nothing was kept, which is logged once.
 */
export class KeptZoneToken {
  private lastProblem: string | undefined;

  constructor(private readonly options: KeptZoneTokenOptions) {}

  /** Resolves with the kept token; undefined if there is none. Throws Unavailable. */
  async read(): Promise<KeptToken | undefined> {
    return (await this.content())?.kept;
  }

  /** Resolves with the secret of this store; the first call creates it. Throws Unavailable, also where it cannot be opened, and Fenced. */
  async secret(fence: Fence): Promise<string> {
    const { store } = this.options;
    const entry = await store.readMetadata(ENTRY.area, ENTRY.key);
    const held = entry && this.open(entry);
    if (held) return held.secret;
    // Another secret would be that of another holder.
    if (entry) throw new Unavailable(`what the store keeps of the zone token cannot be opened: ${this.lastProblem}`);
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    await this.write(fence, { secret });
    return secret;
  }

  /** Keeps a renewed token. Throws Unavailable, Fenced. */
  async keep(fence: Fence, kept: KeptToken): Promise<void> {
    await this.write(fence, { secret: await this.secret(fence), kept });
  }

  /** Seals the entry anew if the first of the sealing keys is another one by now. Throws Unavailable, Fenced. */
  async reseal(fence: Fence): Promise<void> {
    const { store, keys } = this.options;
    const entry = await store.readMetadata(ENTRY.area, ENTRY.key);
    if (entry === undefined || entry['keyId'] === keys.current) return;
    const content = this.open(entry);
    if (content) await this.write(fence, content);
  }

  private async content(): Promise<KeptContent | undefined> {
    const entry = await this.options.store.readMetadata(ENTRY.area, ENTRY.key);
    return entry && this.open(entry);
  }

  private open({ keyId, nonce, sealed }: JsonObject): KeptContent | undefined {
    if (typeof keyId !== 'string' || typeof nonce !== 'string' || typeof sealed !== 'string')
      return this.failed('its entry is incomplete');
    const opened = this.options.keys.open({ keyId, nonce, sealed }, this.purpose);
    if (!opened.ok) return this.failed(opened.reason);
    const content = decodeContent(opened.text);
    if (!content) return this.failed('its content cannot be read');
    this.lastProblem = undefined;
    return content;
  }

  private failed(reason: string): undefined {
    if (reason !== this.lastProblem)
      this.options.logger.error('the kept zone token cannot be opened: that of the settings is shown', { reason });
    this.lastProblem = reason;
  }

  private async write(fence: Fence, { secret, kept }: KeptContent): Promise<void> {
    const { store, keys } = this.options;
    const content: JsonObject = { secret, ...(kept && { kept: { ...kept } }) };
    const value = { ...keys.seal(JSON.stringify(content), this.purpose) };
    await store.write({ changes: [], onRefusal: 'abort', metadata: [{ ...ENTRY, value }], fence });
  }

  private get purpose(): string {
    return `zone-token/${this.options.zone}`;
  }
}

function decodeContent(text: string): KeptContent | undefined {
  const { secret, kept } = parseObject(text);
  if (typeof secret !== 'string') return undefined;
  const { token, receivedAt } = isJsonObject(kept) ? kept : {};
  return {
    secret,
    ...(typeof token === 'string' && typeof receivedAt === 'number' && { kept: { token, receivedAt } }),
  };
}

function parseObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch (error) {
    return { problem: errorText(error) };
  }
}
