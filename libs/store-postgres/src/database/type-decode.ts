import { types, type PoolConfig } from 'pg';

const INT8 = 20;

/** How texts of the server become values: whole numbers of 64 bits as numbers, since ours stay far below 2^53. */
export const decodedTypes: NonNullable<PoolConfig['types']> = {
  getTypeParser: (oid, format) =>
    Number(oid) === INT8 ? Number : (types.getTypeParser(oid, format) as (text: string) => unknown),
};
