import { createTestDatabase } from '../../../test/support/postgres';
import { storeConformance } from '@causeway/store/testing';
import { createPostgresBackend } from '../testing/connected-backend';

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
