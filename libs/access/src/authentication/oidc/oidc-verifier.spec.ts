import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';
import type { JsonObject } from '@causeway/resources';
import { errorText, silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { TestPlane } from '../../../../../test/support/test-plane';
import { AuthenticationSettings } from '../authentication-settings';
import { OidcVerifier } from './oidc-verifier';

const ISSUER = 'https://login.example';

describe('who an OIDC token is of, by the claim "email"', () => {
  const plane = new TestPlane({ role: 'global' });
  const clock = new FakeClock(Date.parse('2026-03-01T12:00:00Z'));
  let verify: (claims: JWTPayload) => Promise<string>;
  let close = (): void => undefined;

  beforeAll(async () => {
    const claims = { usernameClaim: 'email', usernamePrefix: '' };
    const issuer: JsonObject = { issuer: ISSUER, audiences: ['causeway'], ...claims };
    await plane.put('AuthenticationConfiguration', 'default', { oidc: { issuers: [issuer] } });
    await plane.index.reached(await plane.store.head());
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const documents: Readonly<Record<string, unknown>> = {
      [`${ISSUER}/.well-known/openid-configuration`]: { issuer: ISSUER, jwks_uri: `${ISSUER}/keys` },
      [`${ISSUER}/keys`]: { keys: [{ ...(await exportJWK(publicKey)), kid: 'k1' }] },
    };
    const settings = new AuthenticationSettings(plane.index);
    close = () => settings.close();
    const fetchJson = (url: string): Promise<unknown> => Promise.resolve(documents[url]);
    const verifier = new OidcVerifier(settings, { fetchJson, clock, logger: silentLogger, store: plane.store });
    verify = async (claims) => {
      const token = await new SignJWT({ email: 'anna@example.org', ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
        .setIssuer(ISSUER)
        .setAudience('causeway')
        .setExpirationTime(clock.now() / 1_000 + 60)
        .sign(privateKey);
      return verifier.verify(token).then((caller) => caller?.user ?? 'nobody', errorText);
    };
  });
  afterAll(async () => {
    close();
    await plane.close();
  });

  it.each([[true], ['true'], [undefined]])('is its address where it is verified: %p', async (verified) => {
    expect(await verify({ email_verified: verified })).toBe('anna@example.org');
  });

  it.each([[false], ['false'], [0], [null], [{}]])('is nobody where it is not: %p', async (verified) => {
    expect(await verify({ email_verified: verified })).toMatch(/address of its user is not verified/);
  });
});
