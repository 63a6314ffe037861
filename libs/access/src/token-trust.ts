import { globalIdentity, type Resource } from '@causeway/resources';
import type { Logger } from '@causeway/runtime';
import type { IndexChange, IndexEvent, IndexReader } from '@causeway/store';
import { globalSecretId, isOwnGlobalSecret, secretText } from './global-secrets';
import { parseSigningKey, signingKeySerial, type SigningKey, type ParsedSigningKey } from './signing-keys';
import type { TrustedKeys } from './zone-token';

/** The GlobalSecret that lists the ids of revoked zone tokens, as in Kuma (docs/reference/kuma-rest.md §5.5). */
export const REVOCATIONS = 'zone-token-revocations';

/** The keys, revocations and zones without tokens that this replica trusts, as its index has them. */
export class TokenTrust {
  private current: TrustedKeys = { keys: new Map(), revoked: new Set() };
  private readonly listeners = new Set<() => void>();
  /** Parsed keys by name of their secret; a key is parsed again only if its secret changed. */
  private readings = new Map<string, { readonly secret: Resource; readonly reading: ParsedSigningKey }>();
  private unusable: readonly string[] = [];
  private readonly unsubscribe: () => void;

  constructor(
    private readonly index: IndexReader,
    private readonly logger: Logger,
  ) {
    this.read();
    this.unsubscribe = index.subscribe((event) => this.observe(event));
  }

  /** Keys and revocations; a new object after each change. */
  get trustedKeys(): TrustedKeys {
    return this.current;
  }

  /** The key that signs new tokens: the highest serial whose private half is known. */
  get signer(): (SigningKey & { readonly privateKey: NonNullable<SigningKey['privateKey']> }) | undefined {
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

  /** Whether the operator exempted this zone from tokens (`Zone.spec.auth: none`; docs/design.md §5 Zone tokens). */
  isExempt(zone: string): boolean {
    return authOf(this.index.get(globalIdentity('Zone', zone))) === 'none';
  }

  /** Calls `listener` after a change that may end trust, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  close(): void {
    this.unsubscribe();
  }

  private observe({ reloaded, changes }: IndexEvent): void {
    const secrets = reloaded || changes.some(({ id }) => isOwnGlobalSecret(id) && isTrustSecret(id.name));
    if (secrets) this.read();
    if (secrets || changes.some(turnsAuth)) for (const listener of this.listeners) listener();
  }

  private read(): void {
    const keys = new Map<number, SigningKey>();
    const readings: typeof this.readings = new Map();
    const faults: string[] = [];
    for (const secret of this.index.ofKind(globalSecretId('').kind)) {
      const serial = isOwnGlobalSecret(secret.id) ? signingKeySerial(secret.id.name) : undefined;
      if (serial === undefined) continue;
      const known = this.readings.get(secret.id.name);
      const reading = known?.secret === secret ? known.reading : parseSigningKey(serial, secret);
      readings.set(secret.id.name, { secret, reading });
      if (reading.ok) keys.set(serial, reading.key);
      else faults.push(`${secret.id.name}: ${reading.reason}`);
    }
    this.readings = readings;
    this.logFaults(faults.sort());
    const list = this.index.get(globalSecretId(REVOCATIONS));
    this.current = { keys, revoked: parseRevocations(list ? secretText(list) : '') };
  }

  /** Logs one line for all faults, and only if they differ from those before. */
  private logFaults(faults: readonly string[]): void {
    const same = faults.join() === this.unusable.join();
    this.unusable = faults;
    if (!same && faults.length > 0) this.logger.error('signing keys cannot be used', { secrets: faults });
  }
}

function isTrustSecret(name: string): boolean {
  return name === REVOCATIONS || signingKeySerial(name) !== undefined;
}

function turnsAuth({ id, before, after }: IndexChange): boolean {
  return id.kind === 'Zone' && authOf(before) !== authOf(after);
}

function authOf(zone: Resource | undefined): unknown {
  return zone?.spec['auth'];
}

/** The ids in a revocation list, separated by commas or white space. */
export function parseRevocations(text: string): ReadonlySet<string> {
  return new Set(text.split(/[\s,]+/).filter((id) => id !== ''));
}

/** The revocation list with one more id. */
export function withRevocation(text: string, id: string): string {
  return [...parseRevocations(text), id].join(',');
}

/** Whether it is a UUID, as the ids of our tokens and Kuma's are. */
export function isTokenId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}
