import { migrations } from '@causeway/migrations';
import type { DataSource, DataSourceOptions } from 'typeorm';

/** Longest wait for a connection that migrates, ms. A step itself may take as long as it needs. */
export const CONNECT_TIMEOUT = 5_000;

/** TypeORM's view of a store's database: the steps that make its schema, and entities if any. Not connected yet. */
export async function storeDataSource(url: string, entities: DataSourceOptions['entities'] = []): Promise<DataSource> {
  // Only where there is something to migrate: loading it takes longer than all else that a start does here.
  const typeorm = await import('typeorm');
  return new typeorm.DataSource({
    type: 'postgres',
    url,
    entities,
    migrations,
    migrationsTableName: 'migrations',
    applicationName: 'causeway migrations',
    poolSize: 2,
    connectTimeoutMS: CONNECT_TIMEOUT,
  } satisfies DataSourceOptions);
}
