import { globalIdentity, type Resource } from '@causeway/resources';
import type { Logger } from '@causeway/runtime';
import type { IndexChange, IndexEvent, IndexReader } from '@causeway/store';
import { parseRevocations, REVOCATIONS } from './revocations';
import { globalSecretId, isOwnGlobalSecret, secretText } from './secret-text';
import { parseSigningKey, signingKeySerial, type SigningKey, type ParsedSigningKey } from './signing-key';
import type { TrustedKeys } from './zone-token';

/** What this replica trusts now: keys, revocations and zones that need no token, as the index has them. */
export class TokenTrust {
  private current: TrustedKeys = { keys: new Map(), revoked: new Set() };
  private readonly listeners = new Set<() => void>();
  /** What each secret was read as: keys are read again only where their secret is another. */
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

  /** Keys and revocations; replaced as a whole when they change. */
  get trustedKeys(): TrustedKeys {
    return this.current;
  }

  /** The key that new tokens are signed with: the highest serial whose private half is known. */
  get signer(): (SigningKey & { readonly privateKey: NonNullable<SigningKey['privateKey']> }) | undefined {
    const serials = [...this.current.keys.keys()].sort((a, b) => b - a);
    for (const serial of serials) {
      const { publicKey, privateKey } = this.current.keys.get(serial) ?? {};
      if (publicKey && privateKey) return { serial, publicKey, privateKey };
    }
    return undefined;
  }

  /** Which secrets hold no key although their names say so, and why; the values are not repeated. */
  get faults(): readonly string[] {
    return this.unusable;
  }

  /** Whether the operator said that this zone comes without a token (`Zone.spec.auth`; design.md §5). */
  isExempt(zone: string): boolean {
    return authOf(this.index.get(globalIdentity('Zone', zone))) === 'none';
  }

  /** Calls `listener` after anything that was trusted may no longer be, until the returned function is called. */
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

  /** One line for all of them, and only when they are others than before. */
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
