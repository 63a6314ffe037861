import { constants, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';
import type { EncodedResource } from '@causeway/xds-server';
import type { Secret } from '../decode/secrets';
import type { TextSource, TlsContextSettings } from '../decode/tls-settings';
import { readTrustDomain } from './certificate-names';
import type { TrustDomains } from './peer-check';

/** Secrets by their names, as they are now. */
export interface SecretReader {
  secret(name: string): { readonly resource: EncodedResource; readonly secret: Secret } | undefined;
}

/** Certificates and key for one side of a connection. */
export interface TlsMaterial {
  readonly context: SecureContext;
  /** Options of the context, for Node's TLS server, which creates its own. */
  readonly options: SecureContextOptions;
  readonly domains: TrustDomains | undefined;
}

interface Trust {
  readonly resource: EncodedResource;
  readonly domains: TrustDomains;
  readonly pemByDomain: ReadonlyMap<string, readonly string[]>;
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
/** Contexts that are remembered: connections of one kind share one. */
const MAX_CONTEXTS = 1_000;

/**
 * The TLS contexts of a plane. Connections with the same certificate and authorities share a context; a secret that changes makes new ones
 * for new connections, and open connections keep theirs. No session is ever resumed: its certificate would not be looked at again.
 */
export class TlsContexts {
  private readonly contexts = new Map<string, TlsMaterial>();
  private readonly trusts = new Map<string, Trust>();

  constructor(private readonly secrets: SecretReader) {}

  /**
   * The context of a client or a server by these settings; a string says why there is none. `expected` are names that the other side must
   * have: only authorities of their trust domains are put in.
   */
  of(settings: TlsContextSettings, side: 'client' | 'server'): TlsMaterial | string {
    const trust = settings.belief.type === 'secret' ? this.getTrust(settings.belief.name) : undefined;
    if (typeof trust === 'string') return trust;
    const own = this.getOwnCertificate(settings);
    if (typeof own === 'string') return own;
    const domains = side === 'client' && trust ? expectedDomains(settings, trust) : undefined;
    const { minVersion, maxVersion, belief } = settings;
    const believed = belief.type === 'authorities' ? formatKey(belief.pem) : (trust?.resource.version ?? '');
    const key = JSON.stringify([side, own.key, believed, domains, minVersion, maxVersion]);
    const known = this.contexts.get(key);
    if (known) return known;
    try {
      const options = contextOptions(settings, { own, trust, domains });
      const material = { context: createSecureContext(options), options, domains: trust?.domains };
      if (this.contexts.size >= MAX_CONTEXTS) this.contexts.clear();
      this.contexts.set(key, material);
      return material;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** Secrets have changed: what is no longer used is forgotten. */
  forget(): void {
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

  private getOwnCertificate({ own }: TlsContextSettings): Ingredients['own'] | string {
    if (!own) return { key: '', certificate: undefined };
    if (!('secret' in own)) return { key: formatKey(own.chain), certificate: readPair(own) };
    const found = this.secrets.secret(own.secret);
    if (found?.secret.type !== 'certificate') return `the certificate "${own.secret}" is not there`;
    return { key: found.resource.version, certificate: readPair(found.secret) };
  }
}

interface Ingredients {
  readonly own: { readonly key: string; readonly certificate: Pair | undefined };
  readonly trust: Trust | undefined;
  readonly domains: readonly string[] | undefined;
}

function contextOptions({ belief, minVersion, maxVersion }: TlsContextSettings, { own, trust, domains }: Ingredients) {
  const ofDomains = (names: Iterable<string>): string[] =>
    [...names].flatMap((name) => [...(trust?.pemByDomain.get(name) ?? [])]);
  const inline = belief.type === 'authorities' ? [...splitCertificates(readText(belief.pem))] : [];
  return {
    ca: trust ? ofDomains(domains ?? trust.pemByDomain.keys()) : inline,
    ...(own.certificate && { cert: own.certificate.chain, key: own.certificate.key }),
    minVersion,
    maxVersion,
    secureOptions: constants.SSL_OP_NO_TICKET,
    // An authority may itself be signed by one that is not known here.
    allowPartialTrustChain: true,
  };
}

interface Pair {
  readonly chain: string;
  readonly key: string;
}

/** The trust domains of the names that are expected; undefined where any name is. */
function expectedDomains({ names }: TlsContextSettings, { pemByDomain }: Trust): readonly string[] | undefined {
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
