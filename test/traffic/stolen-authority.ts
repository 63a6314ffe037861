import { webcrypto } from 'node:crypto';
import { SealingKeys, ZoneAuthority } from '@causeway/identity';
import { silentLogger, systemClock } from '@causeway/runtime';
import type { PostgresBackend } from '@causeway/store-postgres';
import { createPostgresBackend } from '@causeway/store-postgres/testing';

/** An authority's certificate and key. */
export interface StolenPair {
  readonly certificate: string;
  readonly key: string;
  /** As it is stored. */
  readonly sealed: string;
}

/** The certificate authority of a zone in the hands of an attacker who has its database and the key of its secrets. */
export class StolenAuthority {
  private constructor(
    private readonly backend: PostgresBackend,
    private readonly authority: ZoneAuthority,
    private readonly keys: SealingKeys,
    private readonly zone: string,
  ) {}

  static async open(url: string, secrets: string, zone: string): Promise<StolenAuthority> {
    const parsed = SealingKeys.parse(secrets);
    if (!parsed.ok) throw new Error(parsed.reason);
    const { keys } = parsed;
    const backend = await createPostgresBackend({ url });
    const { store } = backend;
    const authority = new ZoneAuthority({ store, keys, zone, clock: systemClock, logger: silentLogger });
    return new StolenAuthority(backend, authority, keys, zone);
  }

  /** A certificate of any id, and its key; both in PEM. */
  async certificate(uri: string): Promise<{ readonly cert: string; readonly key: string }> {
    const made = await webcrypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
    const publicKey = Buffer.from(await webcrypto.subtle.exportKey('spki', made.publicKey));
    const now = Date.now();
    const { chain } = await this.authority.sign({ uri, publicKey, now, notAfter: now + 3_600_000 });
    const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', made.privateKey)).toString('base64');
    return { cert: chain, key: `-----BEGIN PRIVATE KEY-----\n${der}\n-----END PRIVATE KEY-----\n` };
  }

  /** The certificates and keys in PEM of all authorities that are trusted, and the keys as they are stored. */
  async pairs(): Promise<readonly StolenPair[]> {
    const { authorities = [] } = (await this.authority.state()) ?? {};
    return authorities.map(({ certificate, key }) => {
      const opened = this.keys.open(key, `workload-authority/${this.zone}`);
      if (!opened.ok) throw new Error('the authority cannot be opened');
      return { certificate, key: opened.text, sealed: key.sealed };
    });
  }

  stop(): Promise<void> {
    return this.backend.close();
  }
}
