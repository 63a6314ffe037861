import { X509Certificate } from 'node:crypto';
import { Conflict, isJsonObject, Unavailable, type JsonObject } from '@causeway/resources';
import type { Clock, Logger } from '@causeway/runtime';
import type { Fence, MetadataEntry, ResourceStore } from '@causeway/store';
import {
  abandonRotation,
  advanceRotation,
  allowValidity,
  beginRotation,
  steadyState,
  type AuthorityState,
  type RotationEvidence,
} from './authority-rotation';
import { BatchQueue } from './batch-queue';
import { decodeAuthorityState, type StoredAuthority } from './authority-decode';
import type { SealedText, SealingKeys } from './sealing-keys';
import {
  computeAuthorityId,
  createZoneAuthority,
  signCertificate,
  type AuthorityPair,
  type CertificateTemplate,
} from './x509';

/** Signed certificate. */
export interface SignedCertificate {
  /** PEM: the certificate, then that of its authority. */
  readonly chain: string;
  /** ms since 1970. */
  readonly notAfter: number;
}

/**
 * Signer of workload certificates: the zone's own authority, an HSM, or an external issuer. `sign` throws Unavailable
 * while it cannot sign; `order.notAfter` is the latest end, the signer may choose an earlier one.
 */
export interface CertificateIssuer {
  sign(order: CertificateTemplate): Promise<SignedCertificate>;
}

/** Dependencies and settings of a `ZoneAuthority`. */
export interface ZoneAuthorityOptions {
  readonly store: Pick<ResourceStore, 'readMetadata' | 'write'>;
  readonly keys: SealingKeys;
  readonly zone: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
  /** Validity of certificates, ms; default: 24 h. */
  readonly validity?: number;
  /**
   * Time for which an authority is trusted after its last certificate, ms; default: 10 min, for clock differences and
   * signatures in progress.
   */
  readonly slack?: number;
}

/**
 * Metadata key of the authority's state: metadata belongs to no kind, so no list, sync or audit contains it
 * (docs/design.md §2.8).
 */
export const AUTHORITY_ENTRY = { area: 'workload-authority', key: 'state' } as const;
/** Default validity of a workload's certificate, ms. */
export const CERTIFICATE_VALIDITY = 24 * 3_600_000;

/** Maximum number of signatures that share a read. */
const MAX_SHARED = 1_000;

/** Stored authorities of a zone. */
export type AuthorityStateOfZone = AuthorityState<StoredAuthority>;

type State = AuthorityStateOfZone;

/**
 * Certificate authority of one zone, at one replica. Its state is one metadata entry whose keys are sealed with
 * `CAUSEWAY_SECRETS_KEY`. Only a leader writes it, by its fence, so that one of several replicas creates the authority;
 * every replica signs, by the currently stored state. Throws Unavailable if the state cannot be read or opened: an
 * unreadable authority is never replaced.
 */
export class ZoneAuthority implements CertificateIssuer {
  /** Writes of one leader run one after the other: each depends on the state stored before. */
  private work: Promise<unknown> = Promise.resolve();
  private opened: { readonly key: SealedText; readonly privateKey: string } | undefined;
  /** Key pair that signed last: the same object for the same authority. */
  private pair: AuthorityPair | undefined;
  /** Reads for signatures: those that are asked for meanwhile share the next read, which is not older than they are. */
  private readonly reads = new BatchQueue(async (signatures: readonly undefined[]) => {
    const state = await this.state();
    return signatures.map(() => ({ state }));
  }, MAX_SHARED);

  constructor(private readonly options: ZoneAuthorityOptions) {}

  /** Returns the stored state; undefined before the first leader created the authority. Throws Unavailable. */
  async state(): Promise<State | undefined> {
    const entry = await this.options.store.readMetadata(AUTHORITY_ENTRY.area, AUTHORITY_ENTRY.key);
    if (entry === undefined) return undefined;
    const state = decodeAuthorityState(entry);
    if (!state) throw new Unavailable('the stored certificate authority cannot be read');
    return state;
  }

  /**
   * Called by a leader: creates the authority if there is none, seals its keys with the first sealing key, and lets it
   * sign for the configured validity. Idempotent. Throws Fenced, Unavailable.
   */
  ensure(fence: Fence): Promise<State> {
    const { logger, zone } = this.options;
    return this.change(fence, async (held) => {
      if (held) return this.resealed(allowValidity(held, this.validity));
      const made = steadyState(await this.createAuthority());
      logger.info('a certificate authority of workloads is made', { zone, authority: made.signing });
      return made;
    });
  }

  /**
   * Called by a leader: begins a rotation with a new trusted authority. `entries` are written with it, here and below.
   * Throws Conflict during a rotation, Fenced, Unavailable.
   */
  beginRotation(fence: Fence, deadline: number, entries: readonly MetadataEntry[] = []): Promise<State> {
    const begin = async (held: State | undefined): Promise<State> => {
      const times = { now: this.options.clock.now(), deadline };
      const next = beginRotation(existing(held), await this.createAuthority(), times);
      this.options.logger.info('a rotation of the certificate authority begins', { next: next.authorities.at(-1)?.id });
      return next;
    };
    return this.change(fence, begin, entries);
  }

  /** Called by a leader: uses the new authority without waiting. Throws Conflict if none waits, Fenced, Unavailable. */
  forceRotation(fence: Fence, missing: readonly string[], entries: readonly MetadataEntry[] = []): Promise<State> {
    const force = (held: State | undefined): State => {
      const state = existing(held);
      if (state.step.type !== 'trusting')
        throw new Conflict(`no new authority waits: the step is "${state.step.type}"`);
      const { logger } = this.options;
      logger.warn('a new certificate authority is used although some proxies do not trust it yet', {
        missing: missing.length,
      });
      return advanceRotation(state, { missing, force: true, ...this.times });
    };
    return this.change(fence, force, entries);
  }

  /** Called by a leader: advances a rotation if due, and resolves with the state. Throws Fenced, Unavailable. */
  advanceRotation(fence: Fence, evidence: Pick<RotationEvidence, 'missing' | 'force'>): Promise<State> {
    return this.change(fence, (held) => {
      const next = advanceRotation(existing(held), { ...evidence, ...this.times });
      if (next !== held)
        this.options.logger.info('a rotation of the certificate authority goes on', { step: next.step.type });
      return next;
    });
  }

  /** Called by a leader: abandons a rotation. Throws Conflict once the new authority signs, Fenced, Unavailable. */
  abandonRotation(fence: Fence, entries: readonly MetadataEntry[] = []): Promise<State> {
    return this.change(fence, (held) => abandonRotation(existing(held)), entries);
  }

  /**
   * Returns why the stored key does not open with this replica's sealing keys; undefined if it does, or if there is
   * none. The reason contains nothing of a key. Throws Unavailable.
   */
  async keyProblem(): Promise<string | undefined> {
    for (const { key } of (await this.state())?.authorities ?? []) {
      const opened = this.options.keys.open(key, this.purpose);
      if (!opened.ok) return opened.reason;
    }
    return undefined;
  }

  /** Signs with the current authority. Throws Unavailable before it was created, or if its key does not open. */
  async sign(order: CertificateTemplate): Promise<SignedCertificate> {
    const state = existing((await this.reads.add(undefined)).state);
    const authority = state.authorities.find(({ id }) => id === state.signing);
    if (!authority) throw new Unavailable('the stored certificate authority cannot be read');
    const pair = this.toAuthorityPair(authority);
    const longest = order.now + Math.min(this.validity, authority.longestValidity);
    // Certificates end at a whole second.
    const notAfter = Math.floor(Math.min(order.notAfter, longest) / 1_000) * 1_000;
    const certificate = await signCertificate(pair, { ...order, notAfter });
    const end = Date.parse(new X509Certificate(certificate).validTo);
    return { chain: certificate + authority.certificate, notAfter: end };
  }

  private toAuthorityPair({ certificate, key }: StoredAuthority): AuthorityPair {
    const privateKey = this.open(key);
    const { pair } = this;
    if (pair?.certificate === certificate && pair.privateKey === privateKey) return pair;
    return (this.pair = { certificate, privateKey });
  }

  private get validity(): number {
    return this.options.validity ?? CERTIFICATE_VALIDITY;
  }

  private get times(): Pick<RotationEvidence, 'now' | 'slack'> {
    const { clock, slack } = this.options;
    return { now: clock.now(), ...(slack !== undefined && { slack }) };
  }

  private async createAuthority(): Promise<StoredAuthority> {
    const { clock, keys, zone } = this.options;
    const { certificate, privateKey } = await createZoneAuthority(zone, clock.now());
    const id = computeAuthorityId(certificate);
    return { id, certificate, key: keys.seal(privateKey, this.purpose), longestValidity: this.validity };
  }

  /** Returns the state with every key sealed by the first sealing key; the same object if it already is. */
  private resealed(state: State): State {
    const { keys } = this.options;
    if (state.authorities.every(({ key }) => key.keyId === keys.current)) {
      for (const { key } of state.authorities) this.open(key);
      return state;
    }
    this.options.logger.info('the key of the certificate authority is sealed anew', { with: keys.current });
    const authorities = state.authorities.map((one) => ({ ...one, key: keys.seal(this.open(one.key), this.purpose) }));
    return { ...state, authorities };
  }

  private get purpose(): string {
    return `${AUTHORITY_ENTRY.area}/${this.options.zone}`;
  }

  private open(key: SealedText): string {
    const { opened } = this;
    if (opened && opened.key.sealed === key.sealed && opened.key.keyId === key.keyId) return opened.privateKey;
    const found = this.options.keys.open(key, this.purpose);
    if (!found.ok) throw new Unavailable(`the key of the certificate authority cannot be opened: ${found.reason}`);
    this.opened = { key, privateKey: found.text };
    return found.text;
  }

  /** Stores the result of `decide` unless it is unchanged. Throws Fenced after the leader's term. */
  private change(
    fence: Fence,
    decide: (held: State | undefined) => State | Promise<State>,
    more: readonly MetadataEntry[] = [],
  ): Promise<State> {
    const result = this.work.then(async () => {
      const held = await this.state();
      const state = await decide(held);
      if (state === held && more.length === 0) return state;
      const entries = [{ ...AUTHORITY_ENTRY, value: stored(state) }, ...more];
      await this.options.store.write({ changes: [], onRefusal: 'abort', fence, metadata: entries });
      return state;
    });
    this.work = result.catch(() => undefined);
    return result;
  }
}

function existing(state: State | undefined): State {
  if (!state) throw new Unavailable('there is no certificate authority yet: the leader of this zone makes it');
  return state;
}

function stored(state: State): JsonObject {
  const value: unknown = JSON.parse(JSON.stringify({ version: 1, ...state }));
  return isJsonObject(value) ? value : {};
}
