import { FakeClock } from '@causeway/runtime/testing';
import { anonymous, operator, type Caller } from '../authorization/caller';
import { Authenticator, type TokenVerifier } from './authenticator';
import { Unauthenticated } from '../unauthenticated';

const SECOND = 1_000;

/** A token in the form of a JWT; verifiers of these tests read its name only. */
function token(name: string, exp?: number): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256' })}.${part({ Name: name, ...(exp === undefined ? {} : { exp }) })}.signature`;
}

/** Takes every token of its name, until it is set to refuse, and counts its questions. */
class NameVerifier implements TokenVerifier {
  asked = 0;
  trusts = true;
  private readonly listeners = new Set<() => void>();

  constructor(private readonly name: string) {}

  async verify(given: string): Promise<Caller | undefined> {
    this.asked++;
    const { Name, exp } = JSON.parse(Buffer.from(given.split('.')[1] ?? '', 'base64url').toString());
    if (Name !== this.name) return undefined;
    if (!this.trusts) throw new Unauthenticated(`the token of ${this.name} is revoked`);
    return { user: this.name, groups: [], by: 'user-token', ...(exp === undefined ? {} : { until: exp * SECOND }) };
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** As keys or revocations that change. */
  change(): void {
    for (const listener of this.listeners) listener();
  }
}

describe('Authenticator', () => {
  const anna = new NameVerifier('anna');
  const bob = new NameVerifier('bob');
  const clock = new FakeClock(10 * SECOND);
  const authenticator = new Authenticator({ verifiers: [anna, bob], clock, operatorToken: 'operator-secret' });
  const userOf = async (given: string): Promise<string> => (await authenticator.authenticate(given)).user;
  beforeEach(() => {
    anna.change();
    for (const verifier of [anna, bob]) Object.assign(verifier, { asked: 0, trusts: true });
  });

  it('takes no token for nobody, and the operator token for the operator', async () => {
    expect(await authenticator.authenticate(undefined)).toBe(anonymous);
    expect(await authenticator.authenticate('operator-secret')).toBe(operator);
    expect(anna.asked).toBe(0);
  });

  it('takes the first verifier that knows the sort of a token', async () => {
    expect(await userOf(token('anna'))).toBe('anna');
    expect(await userOf(token('bob'))).toBe('bob');
    expect([anna.asked, bob.asked]).toEqual([2, 1]);
  });

  it.each([
    ['of nobody here', token('eve'), /neither the operator token/],
    ['that nobody can hold', 'x'.repeat(16_385), /must not be longer than 16384 characters, has 16385/],
  ])('refuses a token %s, and says nothing of it', async (_, given, message) => {
    await expect(authenticator.authenticate(given)).rejects.toThrow(Unauthenticated);
    await expect(authenticator.authenticate(given)).rejects.toThrow(message);
    await expect(authenticator.authenticate(given)).rejects.not.toThrow(given.slice(0, 100));
  });

  it('verifies a token once a minute', async () => {
    await userOf(token('anna'));
    clock.advance(59 * SECOND);
    await userOf(token('anna'));
    expect(anna.asked).toBe(1);
    clock.advance(SECOND);
    await userOf(token('anna'));
    expect(anna.asked).toBe(2);
  });

  it('verifies a token anew once it has expired', async () => {
    const short = token('anna', clock.now() / SECOND + 5);
    await userOf(short);
    anna.trusts = false;
    clock.advance(5 * SECOND - 1);
    expect(await userOf(short)).toBe('anna');
    clock.advance(1);
    await expect(userOf(short)).rejects.toThrow('the token of anna is revoked');
  });

  it('verifies every token anew after a change of any verifier, also one under verification', async () => {
    await userOf(token('anna'));
    const underWay = userOf(token('bob'));
    bob.change();
    await underWay;
    for (const verifier of [anna, bob]) verifier.trusts = false;
    await expect(userOf(token('anna'))).rejects.toThrow('revoked');
    await expect(userOf(token('bob'))).rejects.toThrow('revoked');
  });

  it('does not remember a refusal', async () => {
    anna.trusts = false;
    await expect(userOf(token('anna'))).rejects.toThrow('revoked');
    anna.trusts = true;
    expect(await userOf(token('anna'))).toBe('anna');
  });
});
