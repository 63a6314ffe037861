import type { Resource } from '@causeway/resources';
import type { Logger } from '@causeway/runtime';
import { followIndex, type IndexChange, type IndexReader } from '@causeway/store';
import { globalSecretId, isOwnGlobalSecret, secretText } from '../global-secrets';
import { parseSigningKey, signingKeySerial, type ParsedSigningKey, type SigningKey } from './signing-keys';
import type { TrustedKeys } from './signed-token';
import type { TokenUse } from './token-definition';

/** Dependencies of a TokenTrust. */
export interface TokenTrustSources {
  readonly use: TokenUse;
  readonly index: IndexReader;
  readonly logger: Logger;
  /** The zone of the GlobalSecrets: empty on the global, its name in a zone. */
  readonly zone: string;
  /** Matches further changes, besides those of keys and revocations, that may end trust. */
  readonly endsTrust?: (change: IndexChange) => boolean;
}

/** A key that can sign. */
export type Signer = SigningKey & { readonly privateKey: NonNullable<SigningKey['privateKey']> };

/** The keys and revocations of this control plane for tokens of one use, as the index of this replica has them. */
export class TokenTrust {
  private current: TrustedKeys = { keys: new Map(), revoked: new Set() };
  private readonly listeners = new Set<() => void>();
  /** Parsed keys by name of their secret; a key is parsed again only if its secret changed. */
  private readings = new Map<string, { readonly secret: Resource; readonly reading: ParsedSigningKey }>();
  private unusable: readonly string[] = [];
  private readonly unsubscribe: () => void;

  constructor(private readonly sources: TokenTrustSources) {
    this.read();
    this.unsubscribe = followIndex(sources.index, {
      reload: () => this.readAgain(),
      apply: (changes) => this.observe(changes),
    });
  }

  /** Keys and revocations; a new object after each change. */
  get trustedKeys(): TrustedKeys {
    return this.current;
  }

  /** The key that signs new tokens: the highest serial whose private half is known. */
  get signer(): Signer | undefined {
    const serials = [...this.current.keys.keys()].sort((a, b) => b - a);
    for (const serial of serials) {
      const { publicKey, privateKey } = this.current.keys.get(serial) ?? {};
      if (publicKey && privateKey) return { serial, publicKey, privateKey };
    }
    return undefined;
  }

  /** Secrets that are named as keys and hold none, with the reason, without the values. */
  get faults(): readonly string[] {
    return this.unusable;
  }

  /** Calls `listener` after a change that may end trust, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  close(): void {
    this.unsubscribe();
  }

  private observe(changes: readonly IndexChange[]): void {
    const { zone, use, endsTrust } = this.sources;
    if (changes.some(({ id }) => isOwnGlobalSecret(id, zone) && isTrustSecret(use, id.name))) this.readAgain();
    else if (endsTrust && changes.some(endsTrust)) this.announce();
  }

  private readAgain(): void {
    this.read();
    this.announce();
  }

  private announce(): void {
    for (const listener of this.listeners) listener();
  }

  private read(): void {
    const { index, zone, use } = this.sources;
    const keys = new Map<number, SigningKey>();
    const readings: typeof this.readings = new Map();
    const faults: string[] = [];
    for (const secret of index.ofKind(globalSecretId('').kind)) {
      const serial = isOwnGlobalSecret(secret.id, zone) ? signingKeySerial(use, secret.id.name) : undefined;
      if (serial === undefined) continue;
      const known = this.readings.get(secret.id.name);
      const reading = known?.secret === secret ? known.reading : parseSigningKey(serial, secretText(secret));
      readings.set(secret.id.name, { secret, reading });
      if (reading.ok) keys.set(serial, reading.key);
      else faults.push(`${secret.id.name}: ${reading.reason}`);
    }
    this.readings = readings;
    this.logFaults(faults.sort());
    const list = index.get(globalSecretId(use.revocations, zone));
    const revoked = parseRevocations(list ? secretText(list) : '');
    this.current = { keys, revoked, ends: parseEnds(revoked) };
  }

  /** Logs one line for all faults, and only if they differ from those before. */
  private logFaults(faults: readonly string[]): void {
    const same = faults.join() === this.unusable.join();
    this.unusable = faults;
    if (!same && faults.length > 0) this.sources.logger.error('signing keys cannot be used', { secrets: faults });
  }
}

function isTrustSecret(use: TokenUse, name: string): boolean {
  return name === use.revocations || signingKeySerial(use, name) !== undefined;
}

/** The entries of a revocation list, separated by commas or white space: ids, and ends of renewed tokens. */
export function parseRevocations(text: string): ReadonlySet<string> {
  return new Set(text.split(/[\s,]+/).filter((id) => id !== ''));
}

/**
 * Formats the entry `ID@SECONDS` of a revocation list: the token was renewed and ends then. Control planes of an older version, and of
 * Kuma, see an id that no token has.
 */
export function formatEnd(id: string, endsAt: number): string {
  return `${id}@${Math.floor(endsAt / 1_000)}`;
}

/** Returns when renewed tokens end, ms since 1970, by id. */
export function parseEnds(revoked: ReadonlySet<string>): ReadonlyMap<string, number> {
  const ends = new Map<string, number>();
  for (const entry of revoked) {
    const [, id, seconds] = /^([^@]+)@(\d{1,12})$/.exec(entry) ?? [];
    if (id !== undefined) ends.set(id, Math.min(Number(seconds) * 1_000, ends.get(id) ?? Infinity));
  }
  return ends;
}
