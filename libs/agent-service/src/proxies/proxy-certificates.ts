import { X509Certificate, type KeyObject } from 'node:crypto';
import { BACKDATED, createWorkloadKey, type WorkloadCertificate } from '@causeway/identity';
import { identityKey, type Identity } from '@causeway/resources';
import { afterTick, Backoff, CallerLog, type Clock, errorText, type Logger, type Timer } from '@causeway/runtime';
import type { IdentityCertificate } from '@causeway/xds-translation';
import type { CertificateOwner, CertificateSigner } from './certificate-signer';
import type { ProxyKey } from './proxy-node';

/** Dependencies of `ProxyCertificates`. */
export interface ProxyCertificatesOptions {
  readonly signer: CertificateSigner;
  /** Returns the certificate (PEM) of the signing authority. */
  readonly authority: () => Promise<string | undefined>;
  /** Returns the certificate of a mesh's own authority (`Mesh.mtls`); undefined if there is none. */
  readonly meshAuthority: (mesh: string) => string | undefined;
  /**
   * Returns the SPIFFE ids of a Dataplane, or of the egress in a mesh; empty if it has none. The first is for the next
   * certificate; a certificate with another of them stays until it is renewed.
   */
  readonly listIds: (owner: CertificateOwner) => readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random?: () => number;
}

/** Owner of a certificate, and its key. */
export interface CertificateSubject {
  readonly owner: CertificateOwner;
  readonly key: Exclude<ProxyKey, { readonly type: 'none' }>;
  /** Certificate of the zone that the proxy presented, with proof of its key. */
  readonly shown?: X509Certificate;
  /** Called after each new certificate. */
  readonly renewed: () => void;
}

/** Certificate of one proxy, renewed until it is closed. */
export interface ProxyCertificate {
  /** Undefined until the first one is signed. */
  current(): IdentityCertificate | undefined;
  status(): CertificateStatus;
  close(): void;
}

/** Status of a proxy's certificate. */
export interface CertificateStatus {
  /** SPIFFE id. */
  readonly uri?: string;
  /** ms since 1970. */
  readonly notAfter?: number;
  /** Why the latest attempt to sign failed; it is retried. */
  readonly failure?: string;
}

/** Interval at which due certificates are looked for, ms. */
const POLL_INTERVAL = 1_000;
/** Interval at which the signing authority is read, ms. */
const AUTHORITY_POLL_INTERVAL = 5_000;
/** Maximum number of concurrent signatures: each reads the store. */
const MAX_CONCURRENT = 8;
const RETRY = { base: 1_000, cap: 60_000 };

/** Authority that signs now. */
interface SigningAuthority {
  readonly pem: string;
  readonly publicKey: KeyObject;
}

interface CertificateEntry extends Omit<CertificateSubject, 'shown'> {
  /** Considered once, at the first signature. */
  shown: X509Certificate | undefined;
  certificate?: SignedKeyCertificate;
  failure?: string;
  readonly retry: Backoff;
  /** Time of the next signature, ms since 1970. */
  due: number;
  isQueued: boolean;
  isClosed: boolean;
}

/** Certificate that was signed for a key. */
type SignedKeyCertificate = IdentityCertificate & Pick<WorkloadCertificate, 'uri' | 'notAfter' | 'meshAuthority'>;

/** Certificate, and when to sign the next one, ms since 1970. */
interface DueCertificate {
  readonly certificate: SignedKeyCertificate;
  readonly due: number;
}

/**
 * Certificates of all connected proxies of this replica. Each is signed when a proxy connects without one, renewed at
 * 50 % ± 10 % of its validity, and replaced when the authority or the SPIFFE id changes. Failures are retried with
 * backoff while the former certificate is served. One timer for all; at most 8 concurrent signatures.
 */
export class ProxyCertificates {
  /** Number of failed attempts to sign since the start. */
  failed = 0;
  private readonly entries = new Set<CertificateEntry>();
  private readonly queue: CertificateEntry[] = [];
  private readonly log: CallerLog;
  private underWay = 0;
  private timer: Timer | undefined;
  private authorityAsked = -Infinity;
  /** Signing authority, as last read. */
  private authority: Promise<SigningAuthority | undefined> | undefined;
  private isClosed = false;

  constructor(private readonly options: ProxyCertificatesOptions) {
    this.log = new CallerLog(options.logger, options.clock);
  }

  /** Starts to maintain a certificate; the first is signed at once. */
  enrol(subject: CertificateSubject): ProxyCertificate {
    const retry = new Backoff({ ...RETRY, ...(this.options.random && { random: this.options.random }) });
    const entry: CertificateEntry = {
      ...subject,
      shown: subject.shown,
      retry,
      due: 0,
      isQueued: false,
      isClosed: false,
    };
    this.entries.add(entry);
    this.enqueue(entry);
    this.schedule();
    return {
      current: () => entry.certificate,
      status: () => ({
        ...(entry.certificate && { uri: entry.certificate.uri, notAfter: entry.certificate.notAfter }),
        ...(entry.failure !== undefined && { failure: entry.failure }),
      }),
      close: () => {
        entry.isClosed = true;
        this.entries.delete(entry);
      },
    };
  }

  /** Signs certificates again whose SPIFFE id has changed, after a change of MeshIdentities or of these Dataplanes. */
  reviewIds(dataplanes?: readonly Identity[]): void {
    const affected = dataplanes && new Set(dataplanes.map(identityKey));
    for (const entry of this.entries) {
      const { owner } = entry;
      if (affected && (owner.type === 'egress' || !affected.has(identityKey(owner.dataplane)))) continue;
      if (this.hasOtherId(entry)) this.enqueue(entry);
    }
  }

  private hasOtherId({ owner, certificate }: CertificateEntry): boolean {
    const ids = this.options.listIds(owner);
    return ids.length > 0 && (certificate === undefined || !ids.includes(certificate.uri));
  }

  close(): void {
    this.isClosed = true;
    this.timer?.cancel();
    this.entries.clear();
    this.queue.length = 0;
  }

  private schedule(): void {
    if (this.timer || this.isClosed) return;
    this.timer = afterTick(this.options.clock, POLL_INTERVAL, () => {
      this.timer = undefined;
      this.tick();
      if (this.entries.size > 0) this.schedule();
    });
  }

  private tick(): void {
    const { clock } = this.options;
    const now = clock.now();
    for (const entry of this.entries) if (entry.due <= now) this.enqueue(entry);
    if (clock.elapsed() - this.authorityAsked < AUTHORITY_POLL_INTERVAL) return;
    this.authorityAsked = clock.elapsed();
    this.authority = undefined;
    void this.reviewAuthority();
  }

  private signingAuthority(): Promise<SigningAuthority | undefined> {
    const read = async (): Promise<SigningAuthority | undefined> => {
      const pem = await this.options.authority();
      return pem === undefined ? undefined : { pem, publicKey: new X509Certificate(pem).publicKey };
    };
    this.authority ??= read().catch(() => undefined);
    return this.authority;
  }

  /** Signs all certificates again after a rotation of the authority. */
  private async reviewAuthority(): Promise<void> {
    const authority = await this.options.authority().catch(() => undefined);
    if (authority === undefined) return;
    for (const entry of this.entries)
      if (entry.certificate && !this.isOfCurrentAuthority(entry, authority)) this.enqueue(entry);
  }

  private isOfCurrentAuthority({ certificate, owner }: CertificateEntry, authority: string): boolean {
    if (certificate?.meshAuthority === undefined) return certificate?.chain.endsWith(authority) === true;
    // While Mesh.mtls is off, no authority would sign.
    return certificate.meshAuthority === (this.options.meshAuthority(getMesh(owner)) ?? certificate.meshAuthority);
  }

  private enqueue(entry: CertificateEntry): void {
    if (entry.isQueued) return;
    entry.isQueued = true;
    this.queue.push(entry);
    this.work();
  }

  private work(): void {
    while (this.underWay < MAX_CONCURRENT && !this.isClosed) {
      const entry = this.queue.shift();
      if (!entry) return;
      if (entry.isClosed) continue;
      this.underWay += 1;
      void this.sign(entry).finally(() => {
        this.underWay -= 1;
        entry.isQueued = false;
        this.work();
      });
    }
  }

  private async sign(entry: CertificateEntry): Promise<void> {
    const now = this.options.clock.now();
    try {
      const held = entry.shown && (await this.reusePresented(entry, entry.shown, now));
      const { certificate, due } = held ?? (await this.issue(entry));
      entry.certificate = certificate;
      delete entry.failure;
      entry.retry.reset();
      // The id may have changed during the signature.
      entry.due = this.hasOtherId(entry) ? now : due;
    } catch (error) {
      entry.failure = errorText(error);
      entry.due = now + entry.retry.next();
      this.failed += 1;
      const { owner } = entry;
      const proxy =
        owner.type === 'egress' ? `egress in ${owner.mesh}` : `${owner.dataplane.mesh}/${owner.dataplane.name}`;
      this.log.warn(`certificate ${proxy}`, 'no certificate for a proxy', { proxy, reason: entry.failure });
      return;
    }
    if (!entry.isClosed) entry.renewed();
  }

  private async issue({ owner, key }: CertificateEntry): Promise<DueCertificate> {
    const made = key.type === 'file' ? { csr: key.csr, key: { path: key.path } } : await createDeliveredKey();
    const { renewAt, ...issued } = await this.options.signer.sign(owner, made.csr);
    return { certificate: { ...issued, key: made.key }, due: renewAt };
  }

  /**
   * Returns the certificate that the proxy presented, if a new one would differ only in its end and it does not end
   * soon. So a proxy that reconnects to another replica is sent nothing new, and many at once cost no signatures.
   */
  private async reusePresented(
    entry: CertificateEntry,
    shown: X509Certificate,
    now: number,
  ): Promise<DueCertificate | undefined> {
    const { key, owner } = entry;
    entry.shown = undefined;
    if (key.type !== 'file') return undefined;
    const uri = this.options.listIds(owner).find((id) => shown.subjectAltName === `URI:${id}`);
    const authority = await this.signingAuthority();
    if (uri === undefined || authority === undefined) return undefined;
    if (!isForKey(shown, key.csr) || !shown.verify(authority.publicKey)) return undefined;
    const [from, notAfter] = [Date.parse(shown.validFrom) + BACKDATED, Date.parse(shown.validTo)];
    const due = this.options.signer.renewalTime(from, notAfter);
    if (due <= now) return undefined;
    return { certificate: { chain: shown.toString() + authority.pem, uri, notAfter, key: { path: key.path } }, due };
  }
}

/** SubjectPublicKeyInfo of a P-256 key (RFC 5480 §2) up to its point, and its length including the point, bytes. */
const P256_KEY = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d030107034200', 'hex');
const P256_KEY_LENGTH = 91;

/** Whether a P-256 CSR has the certificate's key. Compares bytes: parsing takes longer than a signature. */
function isForKey({ raw }: X509Certificate, csr: string): boolean {
  const body = Buffer.from(csr.replace(/-----[^-]+-----/g, ''), 'base64');
  const at = body.indexOf(P256_KEY);
  const key = body.subarray(at, at + P256_KEY_LENGTH);
  return at >= 0 && key.length === P256_KEY_LENGTH && raw.includes(key);
}

function getMesh(owner: CertificateOwner): string {
  return owner.type === 'egress' ? owner.mesh : owner.dataplane.mesh;
}

/** Creates a key in memory, which is sent to its proxy only. */
async function createDeliveredKey(): Promise<{ readonly csr: string; readonly key: { readonly pem: string } }> {
  const { csr, privateKey } = await createWorkloadKey();
  return { csr, key: { pem: privateKey } };
}

/** Joins the certificates of an egress for status: the one that ends first, and any failure. */
export function joinCertificates(held: ReadonlyMap<string, ProxyCertificate>): ProxyCertificate {
  const all = (): readonly ProxyCertificate[] => [...held.values()];
  return {
    current: () => undefined,
    status: () => {
      const statuses = all().map((each) => each.status());
      const signed = statuses.filter(({ notAfter }) => notAfter !== undefined);
      const [first] = signed.sort((a, b) => (a.notAfter ?? 0) - (b.notAfter ?? 0));
      const failed = statuses.find(({ failure }) => failure !== undefined);
      return { ...first, ...failed };
    },
    close: () => all().forEach((each) => each.close()),
  };
}
