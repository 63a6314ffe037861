import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose';
import type { JsonObject } from '@causeway/resources';
import { errorText, silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { TestPlane } from '../../../../../test/support/test-plane';
import { until } from '../../../../../test/support/until';
import { AuthenticationSettings } from '../authentication-settings';
import { checkKeySetUrl, fetchJson, fetchJsonWithin } from './fetch-json';
import { KEY_SETS } from './issuer-keys';
import { OidcVerifier } from './oidc-verifier';

const SECOND = 1_000;

/** An issuer at a real port, whose documents a test chooses. */
class LocalIssuer {
  readonly asked: string[] = [];
  url = '';
  /** Handles requests as the issuer; undefined: it answers as a sound issuer does. */
  answer: RequestListener | undefined;
  keys: readonly JWK[] = [];
  private readonly server = createServer((request, response) => {
    this.asked.push(request.url ?? '');
    if (this.answer) return this.answer(request, response);
    const discovery = { issuer: this.url, jwks_uri: `${this.url}/keys` };
    response.end(JSON.stringify(request.url === '/keys' ? { keys: this.keys } : discovery));
  });

  async start(): Promise<this> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    const address = this.server.address();
    this.url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    return this;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

describe('the documents of an OIDC issuer', () => {
  let issuer: LocalIssuer;
  beforeEach(async () => (issuer = await new LocalIssuer().start()));
  afterEach(() => issuer.stop());

  it.each<[string, RequestListener, RegExp]>([
    ['larger than 256 KiB', (_, response) => response.end(`"${'x'.repeat(256 * 1024)}"`), /larger than 256 KiB/],
    ['redirected', (_, response) => response.writeHead(302, { location: '/keys' }).end(), /fetch failed/],
    ['not found', (_, response) => response.writeHead(404).end('{}'), /answers 404/],
    ['no JSON', (_, response) => response.end('<html>'), /not valid JSON/],
  ])('are refused that are %s', async (_, answer, reason) => {
    issuer.answer = answer;
    await expect(fetchJson(`${issuer.url}/a`)).rejects.toThrow(reason);
    expect(issuer.asked).toEqual(['/a']);
  });

  it.each<[string, RequestListener]>([
    ['that do not come', () => undefined],
    ['that begin and do not end', (_, response) => void response.write('{"keys":[')],
  ])('%s are given up', async (_, answer) => {
    issuer.answer = answer;
    await expect(fetchJsonWithin(100, `${issuer.url}/a`)).rejects.toThrow(/timeout/);
  });

  it('are not read over plain http from another machine', async () => {
    await expect(fetchJson('http://login.example/keys')).rejects.toThrow(/must be an https URL/);
    await expect(fetchJson('file:///etc/passwd')).rejects.toThrow(/must be an https URL/);
  });

  it.each([
    ['https://login.example', 'https://keys.example/keys'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:9090/keys'],
    ['http://localhost:8080', 'http://[::1]:9090/keys'],
    ['https://localhost', 'http://127.9.9.9/keys'],
    ['http://[::1]', 'https://keys.example/keys'],
  ])('of %s may name the keys %s', (named, uri) => {
    expect(() => checkKeySetUrl(uri, named)).not.toThrow();
  });

  it.each([
    ['https://login.example', 'http://127.0.0.1:6379/'],
    ['https://login.example', 'http://localhost/keys'],
    ['https://login.example', 'http://[::1]:5681/keys'],
    ['https://login.example', 'http://2130706433/keys'], // 127.0.0.1 as a number
    ['https://127.0.0.1.login.example', 'http://127.0.0.1/keys'],
    ['https://login.example', 'http://login.example/keys'],
    ['http://127.0.0.1', 'http://login.example/keys'],
    ['http://127.0.0.1', 'file:///etc/passwd'],
    ['https://login.example', 'keys'],
  ])('of %s may not name the keys %s', (named, uri) => {
    const said = (): string => {
      try {
        checkKeySetUrl(uri, named);
      } catch (error) {
        return errorText(error);
      }
      return '';
    };
    expect(said()).toMatch(/^jwks_uri of its discovery document: must be an https URL/);
    expect(said()).toContain(`got "${uri}"`);
  });
});

describe('the keys of an OIDC issuer', () => {
  const plane = new TestPlane({ role: 'global' });
  const clock = new FakeClock(Date.parse('2026-03-01T12:00:00Z'));
  let pair: { readonly privateKey: CryptoKey; readonly publicKey: CryptoKey };
  let jwk: JWK;
  let issuer: LocalIssuer;
  let settings: AuthenticationSettings;
  let verifier: OidcVerifier;
  beforeAll(async () => {
    pair = await generateKeyPair('ES256');
    jwk = { ...(await exportJWK(pair.publicKey)), kid: 'k1' };
  });
  beforeEach(async () => {
    issuer = await new LocalIssuer().start();
    issuer.keys = [jwk];
    settings = new AuthenticationSettings(plane.index);
    verifier = new OidcVerifier(settings, { fetchJson, clock, logger: silentLogger, store: plane.store });
    await trust(issuer.url);
  });
  afterEach(() => {
    settings.close();
    issuer.stop();
  });
  afterAll(() => plane.close());

  async function trust(...issuers: readonly (string | JsonObject)[]): Promise<void> {
    const specs = issuers.map((one) => ({
      audiences: ['causeway'],
      usernamePrefix: '',
      ...(typeof one === 'string' ? { issuer: one } : one),
    }));
    await plane.put('AuthenticationConfiguration', 'default', { oidc: { issuers: specs } });
    await plane.index.reached(await plane.store.head());
  }

  async function whoIs(claims: JWTPayload = {}, kid = 'k1', by: Pick<LocalIssuer, 'url'> = issuer): Promise<string> {
    const token = await new SignJWT({ sub: 'anna', ...claims })
      .setProtectedHeader({ alg: 'ES256', kid })
      .setIssuer(by.url)
      .setAudience('causeway')
      .setExpirationTime(clock.now() / SECOND + 600)
      .sign(pair.privateKey);
    return verifier.verify(token).then((caller) => caller?.user ?? 'nobody', errorText);
  }

  const stored = async (): Promise<readonly string[]> =>
    (await plane.store.listMetadata(KEY_SETS)).map(({ key }) => key);

  it('are not fetched from a port of this machine for an issuer elsewhere, and the error says so', async () => {
    const elsewhere = 'https://login.example';
    const asked: string[] = [];
    const read = (url: string): Promise<unknown> => {
      asked.push(url);
      return Promise.resolve({ issuer: elsewhere, jwks_uri: `${issuer.url}/keys` });
    };
    verifier = new OidcVerifier(settings, { fetchJson: read, clock, logger: silentLogger, store: plane.store });
    await trust(elsewhere);
    expect(await whoIs({}, 'k1', { url: elsewhere })).toContain(
      'jwks_uri of its discovery document: must be an https URL (http only to this machine, and only where the issuer is ' +
        `on this machine itself); got "${issuer.url}/keys"`,
    );
    expect([asked, issuer.asked]).toEqual([[`${elsewhere}/.well-known/openid-configuration`], []]);
  });

  it('are fetched once for many tokens, and at most every 30 s for key ids that nobody has', async () => {
    expect(await Promise.all(Array.from({ length: 5 }, () => whoIs()))).toEqual(Array(5).fill('anna'));
    expect(issuer.asked).toEqual(['/.well-known/openid-configuration', '/keys']);
    for (let i = 0; i < 20; i++) expect(await whoIs({}, `forged-${i}`)).toMatch(/has no key with kid "forged-/);
    expect(issuer.asked).toHaveLength(2);
    clock.advance(30 * SECOND);
    for (let i = 0; i < 20; i++) expect(await whoIs({}, `forged-${i}`)).toMatch(/has no key with kid "forged-/);
    expect(issuer.asked).toHaveLength(4);
  });

  it('are not trusted that are too many, or of a discovery document that names another issuer', async () => {
    issuer.keys = Array.from({ length: 65 }, (_, i) => ({ ...jwk, kid: `k${i}` }));
    expect(await whoIs()).toMatch(/cannot be fetched: its key set is no list of at most 64 keys/);
    issuer.answer = (_, response) =>
      response.end(JSON.stringify({ issuer: 'https://evil.example', jwks_uri: `${issuer.url}/keys` }));
    clock.advance(30 * SECOND);
    expect(await whoIs()).toMatch(/cannot be fetched: its discovery document names another issuer/);
    issuer.answer = undefined;
    issuer.keys = [
      { ...jwk, d: 'x' },
      { kty: 'oct', k: 'AAAA', kid: 'k1' },
    ];
    clock.advance(30 * SECOND);
    expect(await whoIs()).toMatch(/has no key with kid "k1"/);
  });

  it('are kept while the settings of their issuer are, and their copies leave the store with it', async () => {
    const other = await new LocalIssuer().start();
    other.keys = [jwk];
    await whoIs();
    await trust(issuer.url, other.url);
    expect(await whoIs({}, 'k1', other)).toBe('anna');
    expect(await whoIs()).toBe('anna');
    expect(issuer.asked).toHaveLength(2);
    await until('both are stored', async () => (await stored()).length === 2);
    await trust({ issuer: issuer.url, usernamePrefix: 'sso:' });
    expect(await whoIs({}, 'k1', other)).toBe('nobody');
    expect(await whoIs()).toBe('sso:anna');
    await until('one is stored', async () => (await stored()).join() === issuer.url);
    await plane.delete('AuthenticationConfiguration', 'default');
    await until('none is stored', async () => (await stored()).length === 0);
    other.stop();
  });

  it('prove a user who is no user of a user token, unless the configuration says so', async () => {
    const trusted = { issuer: issuer.url, audiences: ['causeway'] };
    await plane.put('AuthenticationConfiguration', 'default', { oidc: { issuers: [trusted] } });
    await plane.index.reached(await plane.store.head());
    expect(await whoIs()).toBe('oidc:anna');
    await trust({ issuer: issuer.url, usernamePrefix: '' });
    expect(await whoIs()).toBe('anna');
  });

  it.each(['anonymous', 'localhost', 'operator', 'causeway:admins', 'causeway:zone:east'])(
    'prove no user named %s',
    async (sub) => {
      expect(await whoIs({ sub })).toMatch(/must not be a name that the control plane itself uses/);
    },
  );
});
