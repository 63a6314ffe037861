import { ownZone, type ControlPlane, type Registry } from '@causeway/resources';
import { afterTick, errorText, type Clock, type Logger, type Timer } from '@causeway/runtime';
import { followIndex, type IndexChange, type IndexReader, type ResourceStore } from '@causeway/store';
import {
  authoritySecret,
  authorityText,
  createAuthority,
  createServerCertificate,
  parseAuthority,
  SERVER_VALIDITY,
  type CertifiedKey,
  type ParsedAuthority,
} from './certificate-authority';
import { globalSecretId, isOwnGlobalSecret, putSecret } from './global-secrets';

/** The certificate of a running server, which may be replaced while it runs. */
export interface ServerCertificates {
  /** The chain and the key in use. */
  current(): CertifiedKey;
  /** PEM of the authority that clients must trust; undefined if it is unknown here. */
  authority(): string | undefined;
  /** Why the certificate in use is not the configured one; undefined if it is. */
  fault(): string | undefined;
  /** Calls `listener` after each replacement, until the returned function is called. */
  onChange(listener: () => void): () => void;
  close(): void;
}

/** Dependencies and settings of `SelfIssuedCertificates`. */
export interface SelfIssuedCertificateOptions {
  readonly store: ResourceStore;
  readonly index: IndexReader;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Control plane of the authority; the global by default. */
  readonly cp?: ControlPlane;
  /** Returns the names and addresses of this host; called at each check, because addresses change. */
  readonly names: () => readonly string[];
}

/** Interval of the checks of names and age, ms. */
const CHECK_INTERVAL = 3_600_000;
/** Age at which a certificate is replaced, ms. */
const RENEWAL_AGE = SERVER_VALIDITY / 2;

interface IssuedCertificate {
  readonly authority: CertifiedKey;
  readonly server: CertifiedKey;
  readonly names: readonly string[];
  readonly at: number;
}

/**
 * Server certificates signed by an authority in the store. All replicas share the authority, the first one creates it,
 * and each signs a certificate for its own names (docs/adr/0003-authority-in-the-store.md). The certificate is replaced
 * while it is in use when the authority or the names change and when it gets old. A deleted authority is created again.
 */
export class SelfIssuedCertificates implements ServerCertificates {
  private readonly listeners = new Set<() => void>();
  private readonly unsubscribe: () => void;
  private timer: Timer | undefined;
  private work: Promise<void> = Promise.resolve();
  private closed = false;

  private constructor(
    private readonly options: SelfIssuedCertificateOptions,
    private issued: IssuedCertificate,
    private lastFault: string | undefined,
  ) {
    this.unsubscribe = followIndex(options.index, {
      reload: () => this.refresh(),
      apply: (changes) => this.observe(changes),
    });
    this.scheduleCheck();
  }

  /** Resolves with a certificate in use. Throws Unavailable. */
  static async open(options: SelfIssuedCertificateOptions): Promise<SelfIssuedCertificates> {
    const issued = await issueByStored(options);
    if (issued.ok) return new SelfIssuedCertificates(options, issued.issued, undefined);
    // The operator needs a running control plane to repair the secret; until then clients do not trust this
    // certificate.
    const secret = authoritySecret(options.cp);
    options.logger.error('clients cannot trust the certificate shown', { secret, reason: issued.reason });
    const own = await issue(options, await createAuthority(options.clock.now(), options.cp));
    return new SelfIssuedCertificates(options, own, `${secret}: ${issued.reason}`);
  }

  current(): CertifiedKey {
    return this.issued.server;
  }

  authority(): string {
    return `${this.issued.authority.certificate.trim()}\n`;
  }

  fault(): string | undefined {
    return this.lastFault;
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  close(): void {
    this.closed = true;
    this.unsubscribe();
    this.timer?.cancel();
  }

  private observe(changes: readonly IndexChange[]): void {
    const { cp } = this.options;
    const [name, zone] = [authoritySecret(cp), cp && ownZone(cp)];
    if (changes.some(({ id }) => isOwnGlobalSecret(id, zone) && id.name === name)) this.refresh();
  }

  private scheduleCheck(): void {
    this.timer = afterTick(this.options.clock, CHECK_INTERVAL, () => {
      this.refresh();
      this.scheduleCheck();
    });
  }

  /** Refreshes run one after the other, so that an earlier state of the secret never replaces a later one. */
  private refresh(): void {
    this.work = this.work
      .then(() => this.replace())
      .catch((error: unknown) => {
        this.lastFault = errorText(error);
        this.options.logger.error('a replaced server certificate was refused, the former one stays in use', {
          reason: this.lastFault,
        });
      });
  }

  private async replace(): Promise<void> {
    if (this.closed) return;
    const { options, issued } = this;
    const reading = await ensureAuthority(options);
    if (!reading.ok) throw new Error(`${authoritySecret(options.cp)}: ${reading.reason}`);
    const { authority } = reading;
    this.lastFault = undefined;
    const same = authority.certificate === issued.authority.certificate;
    const fresh = options.clock.now() - issued.at < RENEWAL_AGE && options.names().join() === issued.names.join();
    if (same && fresh) return;
    this.issued = await issue(options, authority);
    options.logger.info('a server certificate was replaced', { newAuthority: !same });
    for (const listener of this.listeners) listener();
  }
}

/**
 * Returns the PEM of the authority that all ports of a control plane share unless they have files; undefined if none
 * was created yet.
 */
export function sharedAuthority(index: IndexReader, cp: ControlPlane, clock: Clock): string | undefined {
  const held = index.get(globalSecretId(authoritySecret(cp), ownZone(cp)));
  const reading = held && parseAuthority(held, clock.now());
  return reading?.ok === true ? `${reading.authority.certificate.trim()}\n` : undefined;
}

/** Issues a certificate signed by the stored authority, or returns why there is none. Throws Unavailable. */
async function issueByStored(
  options: SelfIssuedCertificateOptions,
): Promise<
  { readonly ok: true; readonly issued: IssuedCertificate } | { readonly ok: false; readonly reason: string }
> {
  const reading = await ensureAuthority(options);
  if (!reading.ok) return reading;
  try {
    return { ok: true, issued: await issue(options, reading.authority) };
  } catch (error) {
    return { ok: false, reason: `no certificate can be made by it: ${errorText(error)}` };
  }
}

async function issue(options: SelfIssuedCertificateOptions, authority: CertifiedKey): Promise<IssuedCertificate> {
  const names = options.names();
  const at = options.clock.now();
  return { authority, names, at, server: await createServerCertificate(authority, { names, now: at, cp: options.cp }) };
}

/** Returns the stored authority; created if there is none. Throws Unavailable. */
async function ensureAuthority({
  store,
  registry,
  clock,
  logger,
  cp,
}: SelfIssuedCertificateOptions): Promise<ParsedAuthority> {
  const secret = authoritySecret(cp);
  const id = globalSecretId(secret, cp && ownZone(cp));
  let held = await store.get(id);
  if (!held) {
    const text = authorityText(await createAuthority(clock.now(), cp));
    const change = putSecret(registry, { name: secret, text, expect: 'absent' }, cp);
    await store.write({ changes: [change], onRefusal: 'skip' });
    held = await store.get(id);
    logger.info('a certificate authority is in the store', { secret });
  }
  return held ? parseAuthority(held, clock.now()) : { ok: false, reason: 'it was deleted as soon as it was made' };
}
