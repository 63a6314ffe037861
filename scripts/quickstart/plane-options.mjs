import { join } from 'node:path';
import { adminSocket } from './admin-access.mjs';
import { databaseUrl } from './databases.mjs';
import { credentialFiles } from './zone-credentials.mjs';

/** Returns the options of `startControlPlane` for a control plane of this run. */
export function startOptions(settings, plane, { postgres, lock, network }) {
  const { root, environment, dataDir, operatorToken } = settings;
  const [global] = settings.controlPlanes;
  const { caFile, tokenFile, adminTokenFile } = credentialFiles(dataDir, plane.name);
  const roleEnv =
    plane.app === 'global'
      ? {
          CAUSEWAY_KDS_PORT: plane.ports.kds,
          CAUSEWAY_KDS_BIND_ADDRESS: '127.0.0.1',
          CAUSEWAY_KDS_TLS: 'on',
          CAUSEWAY_KDS_AUTH: 'token',
        }
      : {
          CAUSEWAY_ZONE_NAME: plane.name,
          CAUSEWAY_GLOBAL_ADDRESS: `grpcs://127.0.0.1:${global.ports.kds}`,
          CAUSEWAY_GLOBAL_CA_FILE: caFile,
          CAUSEWAY_GLOBAL_TLS_SKIP_VERIFY: '',
          CAUSEWAY_ZONE_TOKEN_FILE: tokenFile,
          CAUSEWAY_ZONE_TOKEN: '',
          ...network?.vipRanges(plane.name),
          ...network?.mayDial,
          CAUSEWAY_DNS_PORT: plane.ports.dns,
          CAUSEWAY_XDS_PORT: plane.ports.xds,
          CAUSEWAY_XDS_TLS: 'on',
        };
  const env = {
    ...environmentFor(plane, environment),
    ...lock.env,
    ...roleEnv,
    DATABASE_URL: databaseUrl(postgres.url, plane),
    CAUSEWAY_REST_PORT: plane.ports.rest,
    CAUSEWAY_GRPC_PORT: plane.ports.grpc,
    CAUSEWAY_OPERATOR_TOKEN: operatorToken,
    CAUSEWAY_ADMIN_TOKEN_FILE: adminTokenFile,
    CAUSEWAY_ADMIN_SOCKET: adminSocket(dataDir, plane.name) ?? 'off',
    CAUSEWAY_DIAGNOSTICS_PORT: plane.ports.diagnostics,
  };
  return { plane, root, env, logDir: join(dataDir, 'logs') };
}

// A control plane warns of variables that are not its own, so that no typing error goes unseen.
const FOR_GLOBAL = /^CAUSEWAY_KDS_/;
const FOR_ZONES = /^CAUSEWAY_(VIP|DNS|XDS|EXTERNAL|SERVICE|ZONE|SECRETS|WORKLOAD|GLOBAL)_/;

function environmentFor(plane, environment) {
  const others = plane.app === 'global' ? FOR_ZONES : FOR_GLOBAL;
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !others.test(name)));
}
