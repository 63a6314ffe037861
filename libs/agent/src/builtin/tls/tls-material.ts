import { constants, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';
import type { EncodedResource } from '@causeway/xds-server';
import type { Secret } from '../decode/secrets';
import type { TextSource, TlsContextSettings } from '../decode/tls-settings';
import { readTrustDomain } from './certificate-names';
import type { TrustDomains } from './peer-check';

/** Current secrets, by name. */
export interface SecretReader {
  secret(name: string): { readonly resource: EncodedResource; readonly secret: Secret } | undefined;
}

/** Certificates and key for one side of a connection. */
export interface TlsMaterial {
  readonly context: SecureContext;
  /** For Node's TLS server, which creates its own context. */
  readonly options: SecureContextOptions;
  readonly domains: TrustDomains | undefined;
}

interface Trust {
  readonly resource: EncodedResource;
  readonly domains: TrustDomains;
  readonly pemByDomain: ReadonlyMap<string, readonly string[]>;
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
/** Maximum number of cached contexts. */
const MAX_CONTEXTS = 1_000;

/**
 * TLS contexts, shared by connections with equal certificates and authorities. Changed secrets apply to new
 * connections. Sessions are never resumed, since that would skip verification.
 */
export class TlsContexts {
  private readonly contexts = new Map<string, TlsMaterial>();
  private readonly trusts = new Map<string, Trust>();

  constructor(private readonly secrets: SecretReader) {}

  /**
   * Returns the context of a client or server, or why there is none. A client context contains only the authorities of
   * the trust domains of the expected names.
   */
  getMaterial(settings: TlsContextSettings, side: 'client' | 'server'): TlsMaterial | string {
    const trust = settings.peerTrust.type === 'secret' ? this.getTrust(settings.peerTrust.name) : undefined;
    if (typeof trust === 'string') return trust;
    const own = this.getOwnCertificate(settings);
    if (typeof own === 'string') return own;
    const domains = side === 'client' && trust ? listExpectedDomains(settings, trust) : undefined;
    const { minVersion, maxVersion, peerTrust } = settings;
    const believed = peerTrust.type === 'authorities' ? formatKey(peerTrust.pem) : (trust?.resource.version ?? '');
    const key = JSON.stringify([side, own.key, believed, domains, minVersion, maxVersion]);
    const known = this.contexts.get(key);
    if (known) return known;
    try {
      const options = buildContextOptions(settings, { own, trust, domains });
      const material = { context: createSecureContext(options), options, domains: trust?.domains };
      if (this.contexts.size >= MAX_CONTEXTS) this.contexts.clear();
      this.contexts.set(key, material);
      return material;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** Drops cached contexts after secrets have changed. */
  clear(): void {
    this.contexts.clear();
    this.trusts.clear();
  }

  private getTrust(name: string): Trust | string {
    const found = this.secrets.secret(name);
    if (found?.secret.type !== 'trust') return `the authorities "${name}" are not known`;
    const { resource, secret } = found;
    const known = this.trusts.get(name);
    if (known?.resource === resource) return known;
    const pemByDomain = new Map([...secret.domains].map(([domain, pem]) => [domain, splitCertificates(readText(pem))]));
    const domains = new Map(
      [...pemByDomain].map(([domain, pems]) => [domain, pems.map((pem) => new X509Certificate(pem))]),
    );
    const trust = { resource, domains, pemByDomain };
    this.trusts.set(name, trust);
    return trust;
  }

  private getOwnCertificate({ own }: TlsContextSettings): ContextParts['own'] | string {
    if (!own) return { key: '', certificate: undefined };
    if (!('secret' in own)) return { key: formatKey(own.chain), certificate: readPair(own) };
    const found = this.secrets.secret(own.secret);
    if (found?.secret.type !== 'certificate') return `the certificate "${own.secret}" is not there`;
    return { key: found.resource.version, certificate: readPair(found.secret) };
  }
}

interface ContextParts {
  readonly own: { readonly key: string; readonly certificate: Pair | undefined };
  readonly trust: Trust | undefined;
  readonly domains: readonly string[] | undefined;
}

function buildContextOptions(
  { peerTrust, minVersion, maxVersion }: TlsContextSettings,
  { own, trust, domains }: ContextParts,
) {
  const ofDomains = (names: Iterable<string>): string[] =>
    [...names].flatMap((name) => [...(trust?.pemByDomain.get(name) ?? [])]);
  const inline = peerTrust.type === 'authorities' ? [...splitCertificates(readText(peerTrust.pem))] : [];
  return {
    ca: trust ? ofDomains(domains ?? trust.pemByDomain.keys()) : inline,
    ...(own.certificate && { cert: own.certificate.chain, key: own.certificate.key }),
    minVersion,
    maxVersion,
    secureOptions: constants.SSL_OP_NO_TICKET,
    // An authority may be an intermediate whose issuer is unknown here.
    allowPartialTrustChain: true,
  };
}

interface Pair {
  readonly chain: string;
  readonly key: string;
}

/** Returns the trust domains of the expected names; undefined if any name is accepted. */
function listExpectedDomains({ names }: TlsContextSettings, { pemByDomain }: Trust): readonly string[] | undefined {
  if (names.length === 0 || names.some(({ type, match }) => type !== 'URI' || match !== 'exact')) return undefined;
  return [...new Set(names.map(({ value }) => readTrustDomain(value)))]
    .filter((domain) => pemByDomain.has(domain))
    .sort();
}

function formatKey(source: TextSource): string {
  return 'path' in source ? `path ${source.path}` : source.text;
}

function readPair({ chain, key }: { readonly chain: TextSource; readonly key: TextSource }): Pair {
  return { chain: readText(chain), key: readText(key) };
}

function readText(source: TextSource): string {
  return 'path' in source ? readFileSync(source.path, 'utf8') : source.text;
}

function splitCertificates(pem: string): readonly string[] {
  return pem.match(PEM_CERTIFICATE) ?? [];
}
