import { migrations } from '@causeway/migrations';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { ResourceRow } from './resource-row';

/** TypeORM's view of a store's database: its entity and the steps that make its schema. Not connected yet. */
export function storeDataSource(url: string): DataSource {
  return new DataSource({
    type: 'postgres',
    url,
    entities: [ResourceRow],
    migrations,
    migrationsTableName: 'migrations',
    applicationName: 'causeway migrations',
    poolSize: 2,
  } satisfies DataSourceOptions);
}
