import type { ControlLoop, LoopPlan } from '@causeway/loops';
import { MAX_REVOKED } from '@causeway/kinds';
import { computedLabels, jsonEqual, type Registry, type Resource } from '@causeway/resources';
import type { Logger } from '@causeway/runtime';
import type { Change, IndexEvent, IndexReader, WriteResult } from '@causeway/store';
import { isOwnGlobalSecret } from '../global-secrets';
import type { TrustedKeys } from '../tokens/signed-token';
import { AUTHENTICATION_ID } from './authentication-settings';
import { USER_TOKEN } from './user-token';

/** Maximum number of keys that are published to zones; the kind has this bound. */
const MAX_KEYS = 64;

/**
 * Returns the change that writes the public keys and revocations of the global's user tokens into the
 * AuthenticationConfiguration; undefined if it already has them. Other fields stay.
 */
export function planTokenKeys(
  registry: Registry,
  { keys, revoked }: TrustedKeys,
  held: Resource | undefined,
): Change | undefined {
  const newestFirst = [...keys.values()].sort((a, b) => b.serial - a.serial).slice(0, MAX_KEYS);
  const tokenKeys = newestFirst.map(({ serial, publicKey }) => ({
    serial,
    key: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  }));
  const revokedTokens = [...revoked].slice(-MAX_REVOKED);
  const spec = { ...held?.spec, tokenKeys, revokedTokens };
  if (held) {
    const isSame = jsonEqual(held.spec, spec);
    return isSame ? undefined : { type: 'patch', id: AUTHENTICATION_ID, expect: held.revision, spec };
  }
  const kind = registry.kind(AUTHENTICATION_ID.kind);
  if (!kind || tokenKeys.length === 0) return undefined;
  const labels = computedLabels(kind, AUTHENTICATION_ID, { role: 'global' });
  return { type: 'put', id: AUTHENTICATION_ID, expect: 'absent', labels, spec };
}

/** Returns revocations that are not published to zones because a list that was edited by hand is too long. */
export function unpublishedRevocations({ revoked }: TrustedKeys): readonly string[] {
  const dropped = revoked.size - MAX_REVOKED;
  const { revocations } = USER_TOKEN;
  return dropped <= 0
    ? []
    : [`${revocations}: zones receive only its last ${MAX_REVOKED} ids and accept the tokens of the ${dropped} before`];
}

/**
 * Keeps public keys and revocations in the AuthenticationConfiguration, with which zones verify the global's user
 * tokens.
 */
export class TokenKeyPublisher implements ControlLoop {
  readonly name = 'token-keys';
  private index: IndexReader | undefined;
  private isStale = false;

  constructor(
    private readonly registry: Registry,
    /** Keys of the global; as current as the index. */
    private readonly own: { readonly trustedKeys: TrustedKeys },
    private readonly logger: Logger,
  ) {}

  reset(index: IndexReader): void {
    this.index = index;
    this.isStale = true;
  }

  observe({ changes }: IndexEvent): void {
    if (changes.some(({ id }) => id.kind === AUTHENTICATION_ID.kind || isOwnGlobalSecret(id))) this.isStale = true;
  }

  plan(): LoopPlan | undefined {
    if (!this.index || !this.isStale) return undefined;
    this.isStale = false;
    const { trustedKeys } = this.own;
    const change = planTokenKeys(this.registry, trustedKeys, this.index.get(AUTHENTICATION_ID));
    if (!change) return undefined;
    for (const fault of unpublishedRevocations(trustedKeys)) this.logger.error('revocations are lost', { fault });
    return { changes: [change] };
  }

  onWritten(_: readonly Change[], { results }: WriteResult): void {
    if (results.some(({ type }) => type === 'refused')) this.isStale = true;
  }
}
