import { Type } from 'typebox';

/** String to string, as labels and tags are written. */
export const StringMap = Type.Record(Type.String(), Type.String());

/** 1-65535. */
export const PortNumber = Type.Integer({ minimum: 1, maximum: 65535 });

/** An object that refuses fields it does not know (design.md §1). */
export const strict = { additionalProperties: false } as const;
