/** An OpenID Connect issuer as a process of its own: `node oidc-issuer.mjs PORT KID`; says `{port}` over IPC when it serves. */
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const [, , wantedPort, kid] = process.argv;
const server = createServer();
server.listen(Number(wantedPort), '127.0.0.1', () => {
  const { port } = server.address();
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });
  const provider = new Provider(`http://127.0.0.1:${port}`, {
    jwks: { keys: [{ ...key, kid, alg: 'RS256', use: 'sig' }] },
    clients: [
      {
        client_id: 'anna',
        client_secret: 'secret',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
    ],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_, audience) => ({
          audience: audience.replace('urn:', ''),
          scope: 'api',
          accessTokenFormat: 'jwt',
          accessTokenTTL: 600,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    extraTokenClaims: (context) =>
      JSON.parse(context.oidc.params.scope === 'api' ? '{"groups":["dev","causeway:admins"]}' : '{"groups":"dev"}'),
  });
  server.on('request', provider.callback());
  process.send({ port });
});
process.on('disconnect', () => process.exit());
