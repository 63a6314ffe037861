import { createTestDatabase } from '../../../test/support/postgres';
import { storeConformance } from '../../store/src/conformance';
import { createPostgresBackend } from './postgres-backend';

storeConformance('PostgresStore', async () => {
  const database = await createTestDatabase();
  const [mine, other] = await Promise.all([
    createPostgresBackend({ url: database.url }),
    createPostgresBackend({ url: database.url }),
  ]);
  return {
    store: mine.store,
    other: other.store,
    sessions: mine.sessions,
    proxies: mine.proxies,
    otherProxies: other.proxies,
    agentLeases: mine.agentLeases,
    audit: mine.audit,
    lease: mine.lease,
    close: async () => {
      await Promise.all([mine.close(), other.close()]);
      await database.drop();
    },
  };
});
