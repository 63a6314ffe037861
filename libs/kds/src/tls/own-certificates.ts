import type { Registry } from '@causeway/resources';
import { errorText, type Clock, type Logger, type Timer } from '@causeway/runtime';
import type { IndexEvent, IndexReader, ResourceStore } from '@causeway/store';
import { globalSecretId, isOwnGlobalSecret, putSecret } from '../auth/secret-text';
import { AUTHORITY_SECRET, authorityText, parseAuthority, type ParsedAuthority } from './authority-secret';
import type { ServerCertificates } from './server-certificates';
import { createAuthority, createServerCertificate, SERVER_VALIDITY, type CertifiedKey } from './x509';

/** What our own certificates are made of. */
export interface SelfIssuedCertificateOptions {
  readonly store: ResourceStore;
  readonly index: IndexReader;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Names and addresses of this machine, asked for at each look: a machine gets new addresses. */
  readonly names: () => readonly string[];
}

/** How often this machine's names and the age of the certificate are looked at, ms. */
const LOOK_EVERY = 3_600_000;
/** A certificate this old is replaced, ms. */
const RENEWED_AT = SERVER_VALIDITY / 2;

interface IssuedCertificate {
  readonly authority: CertifiedKey;
  readonly server: CertifiedKey;
  readonly names: readonly string[];
  readonly at: number;
}

/**
 * Certificates of an authority that stands in the store, the same for all replicas, made by whichever comes first; each
 * replica signs a certificate for its own names with it (ADR 3). Another authority in the secret, new names and age
 * replace the certificate while it is in use; a deleted authority is made anew.
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
    this.unsubscribe = options.index.subscribe((event) => this.observe(event));
    this.look();
  }

  /** Resolves when there is a certificate to show. Throws Unavailable. */
  static async open(options: SelfIssuedCertificateOptions): Promise<SelfIssuedCertificates> {
    const issued = await issueByStored(options);
    if (issued.ok) return new SelfIssuedCertificates(options, issued.issued, undefined);
    // Who mends the secret needs a control plane that runs: until then zones find a certificate that they do not trust.
    options.logger.error('zones cannot trust the certificate shown', {
      secret: AUTHORITY_SECRET,
      reason: issued.reason,
    });
    const own = await issue(options, await createAuthority(options.clock.now()));
    return new SelfIssuedCertificates(options, own, `${AUTHORITY_SECRET}: ${issued.reason}`);
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

  private observe({ reloaded, changes }: IndexEvent): void {
    if (reloaded || changes.some(({ id }) => isOwnGlobalSecret(id) && id.name === AUTHORITY_SECRET)) this.refresh();
  }

  private look(): void {
    this.timer = this.options.clock.after(LOOK_EVERY, () => {
      this.refresh();
      this.look();
    });
  }

  /** One after the other: a later state of the secret is never overtaken by an earlier one. */
  private refresh(): void {
    this.work = this.work
      .then(() => this.replace())
      .catch((error: unknown) => {
        this.lastFault = errorText(error);
        this.options.logger.error('the certificate for zones stays as it was', { reason: this.lastFault });
      });
  }

  private async replace(): Promise<void> {
    if (this.closed) return;
    const { options, issued } = this;
    const reading = await ensureAuthority(options);
    if (!reading.ok) throw new Error(`${AUTHORITY_SECRET}: ${reading.reason}`);
    const { authority } = reading;
    this.lastFault = undefined;
    const same = authority.certificate === issued.authority.certificate;
    const fresh = options.clock.now() - issued.at < RENEWED_AT && options.names().join() === issued.names.join();
    if (same && fresh) return;
    this.issued = await issue(options, authority);
    options.logger.info('the certificate for zones was replaced', { newAuthority: !same });
    for (const listener of this.listeners) listener();
  }
}

/** A certificate by the stored authority, or why that makes none. Throws Unavailable. */
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
  return { authority, names, at, server: await createServerCertificate(authority, { names, now: at }) };
}

/** The stored authority; made where there is none. Throws Unavailable. */
async function ensureAuthority({
  store,
  registry,
  clock,
  logger,
}: SelfIssuedCertificateOptions): Promise<ParsedAuthority> {
  const id = globalSecretId(AUTHORITY_SECRET);
  let held = await store.get(id);
  if (!held) {
    const change = putSecret(registry, AUTHORITY_SECRET, authorityText(await createAuthority(clock.now())), 'absent');
    await store.write({ changes: [change], onRefusal: 'skip' });
    held = await store.get(id);
    logger.info('a certificate authority for zones is in the store', { secret: AUTHORITY_SECRET });
  }
  return held ? parseAuthority(held, clock.now()) : { ok: false, reason: 'it was deleted as soon as it was made' };
}
