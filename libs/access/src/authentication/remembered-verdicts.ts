import { createHash } from 'node:crypto';
import { BoundedMap, type Clock } from '@causeway/runtime';
import type { Caller } from '../authorization/caller';
import type { TokenVerifier } from './authenticator';

/** Tokens whose callers are remembered. */
const MOST = 10_000;

/** Longest time that a verdict is remembered, ms. */
const LONGEST = 60_000;

interface Verdict {
  readonly caller: Caller;
  readonly until: number;
}

/**
 * Remembers for a minute who a valid token belongs to, by a hash of the token, so that a signature is not verified for
 * each request. Everything is forgotten when trust changes. Refusals are not remembered.
 */
export class RememberedVerdicts implements TokenVerifier {
  private verdicts = new BoundedMap<Verdict>(MOST);

  constructor(
    private readonly verifier: TokenVerifier,
    private readonly clock: Pick<Clock, 'now'>,
  ) {
    verifier.onChange?.(() => (this.verdicts = new BoundedMap<Verdict>(MOST)));
  }

  async verify(token: string): Promise<Caller | undefined> {
    const key = createHash('sha256').update(token).digest('base64');
    // What is found out while trust changes goes into the map that nobody looks at any more.
    const { verdicts } = this;
    const known = verdicts.get(key);
    const now = this.clock.now();
    if (known && known.until > now) return known.caller;
    const caller = await this.verifier.verify(token);
    if (caller) verdicts.set(key, { caller, until: Math.min(now + LONGEST, caller.until ?? Infinity) });
    return caller;
  }

  onChange(listener: () => void): () => void {
    return this.verifier.onChange?.(listener) ?? ((): void => undefined);
  }
}
