import { version } from '../../../package.json';

/** Version of the product, as in its package. */
export const VERSION: string = version;
