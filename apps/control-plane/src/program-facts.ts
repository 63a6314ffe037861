import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { version } from '../../../package.json';

/** Version of the product, as in its package. */
export const VERSION: string = version;

/** This process among all replicas, for people to read; new at each start. */
export const instanceId = `${hostname()}-${process.pid}-${randomBytes(2).toString('hex')}`;
