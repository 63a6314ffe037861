import { silentLogger } from '@causeway/runtime';
import { migrate } from '../src/database/migrate';
import { DatabaseServers } from '../src/servers/database-servers';

/** Brings the schema of an empty database up to date, and begins no store in it: whoever connects first does. */
export function migrateDatabase(url: string): Promise<void> {
  return migrate({ servers: new DatabaseServers([url]), logger: silentLogger, tolerateNewer: false });
}
