import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { coreKinds } from '@causeway/kinds';
import { errorText, silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { TestPlane } from '../../../../../test/support/test-plane';
import { createAuthentication, type Authentication } from '../authentication';
import { Unauthenticated } from '../../unauthenticated';

const MINUTE = 60_000;
const ISSUER = resolve(__dirname, '../../../../../test/support/oidc-issuer.mjs');

/** A real issuer, `oidc-provider`, in a process of its own. */
class RealIssuer {
  private child: ChildProcess | undefined;
  port = 0;

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(kid: string): Promise<void> {
    this.child = fork(ISSUER, [String(this.port), kid], { execArgv: [], stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    const [said] = await once(this.child, 'message');
    this.port = Number(said.port);
  }

  async stop(): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (!child) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  /** An access token of the client `anna`; only with the scope its groups are a list. */
  async token(audience = 'causeway', scope = 'api'): Promise<string> {
    const grant = { grant_type: 'client_credentials', resource: `urn:${audience}` };
    const answer = await fetch(`${this.url}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from('anna:secret').toString('base64')}` },
      body: new URLSearchParams({ ...grant, ...(scope === '' ? {} : { scope }) }),
    });
    return String(Reflect.get(Object(await answer.json()), 'access_token'));
  }
}

describe('tokens of a real OIDC issuer', () => {
  const issuer = new RealIssuer();
  const clock = new FakeClock(Date.now());
  const cp = { role: 'zone', zone: 'east', federated: true } as const;
  const plane = new TestPlane(cp);
  const { store, index } = plane;
  const create = (): Authentication =>
    createAuthentication({ cp, store, index, registry: coreKinds, clock, logger: silentLogger });
  let authentication: Authentication;
  const whoIs = async (token: string): Promise<string> => {
    try {
      const { by, user, groups } = await authentication.authenticator.authenticate(token);
      return [by, user, ...groups].join(' ');
    } catch (error) {
      if (!(error instanceof Unauthenticated)) throw error;
      return errorText(error);
    }
  };

  beforeAll(async () => {
    await issuer.start('k1');
    const trusted = { issuer: issuer.url, audiences: ['causeway'], usernamePrefix: 'sso:', jwksMaxAge: '5m' };
    await plane.put('AuthenticationConfiguration', 'default', { oidc: { issuers: [trusted] } });
    await index.reached(await store.head());
    authentication = create();
  });
  afterAll(async () => {
    authentication.close();
    await issuer.stop();
    await plane.close();
  });

  it('prove user and groups, but no group of the product itself', async () => {
    expect(await whoIs(await issuer.token())).toBe('oidc sso:anna dev causeway:authenticated');
  });

  it('for another audience are refused', async () => {
    expect(await whoIs(await issuer.token('billing'))).toMatch(/the OIDC token cannot be read: .*"aud"/);
  });

  it('whose groups are a text are refused', async () => {
    expect(await whoIs(await issuer.token('causeway', ''))).toBe(
      'the claim "groups" of the OIDC token must be a list of texts',
    );
  });

  it('by a key that the issuer rotated to are known at once; unknown keys cause no more fetches', async () => {
    const old = await issuer.token();
    clock.advance(MINUTE);
    await issuer.stop();
    await issuer.start('k2');
    expect(await whoIs(await issuer.token())).toBe('oidc sso:anna dev causeway:authenticated');
    expect(await whoIs(`${old}`)).toBe(`OIDC issuer ${issuer.url} has no key with kid "k1"`);
  });

  it('are verified while the issuer is away, also after a restart, until its keys are too old; other tokens go on', async () => {
    await authentication.tokens.ensureKey();
    const [token, own] = [await issuer.token(), (await authentication.tokens.issue({ name: 'bert' })).token];
    await issuer.stop();
    authentication.close();
    authentication = create();
    expect(await whoIs(token)).toBe('oidc sso:anna dev causeway:authenticated');
    clock.advance(5 * MINUTE + 1);
    expect(await whoIs(token)).toMatch(/^the keys of OIDC issuer \S+ are of .*, older than its jwksMaxAge/);
    expect(await whoIs(own)).toBe('user-token bert causeway:authenticated');
    await issuer.start('k2');
    clock.advance(MINUTE);
    expect(await whoIs(await issuer.token())).toBe('oidc sso:anna dev causeway:authenticated');
  });

  it('of an expired session are refused', async () => {
    const token = await issuer.token();
    clock.advance(11 * MINUTE);
    expect(await whoIs(token)).toMatch(/^the OIDC token \S+ expired at /);
  });
});
