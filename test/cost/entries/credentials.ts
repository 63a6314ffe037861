import { generateKeyPairSync } from 'node:crypto';
import { list, readSettings, text } from '@causeway/runtime';
import { Metadata } from '@grpc/grpc-js';
import { decodeZoneHeaders } from '@causeway/kds/testing';
import { serverNames } from '../../../apps/control-plane/src/certificates/certificates';
import { verifyToken } from '../../../libs/access/src/tokens/signed-token';
import { parseRevocations } from '../../../libs/access/src/tokens/token-trust';
import { parseValidity } from '../../../libs/access/src/tokens/validity';
import { ZONE_TOKEN } from '../../../libs/access/src/zones/zone-token';
import type { Prng } from '../../simulation/engine/prng';
import { takesInput, takesText, type EntryPoint } from '../entry-point';
import { textShapes } from '../shapes/texts';

/** Limit of HTTP/2 for the headers of one call, in bytes. */
const HEADERS = 64 * 1024;

/** Tokens, headers of gRPC, settings. */
export function credentialEntries(draw: Prng): EntryPoint[] {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const rules = { keys: new Map([[1, { serial: 1, publicKey }]]), revoked: new Set<string>() };
  const json = (value: string): string => Buffer.from(value).toString('base64url');
  const head = json('{"alg":"RS256","kid":"1"}');
  const verify = (token: string): Promise<unknown> => verifyToken(token, ZONE_TOKEN, rules, Date.now());
  const plain = textShapes(draw);
  const metadata = (key: string) => (value: string) => {
    const made = new Metadata();
    made.set(key, value.replace(/[^ -~]/g, 'x'));
    return made;
  };
  return [
    takesText(
      'zone token',
      HEADERS,
      textShapes(draw, [
        [`${head}.`, '.x'],
        ['', `.${head}.x`],
        [`${head}.${head}.`, ''],
      ]),
      verify,
    ),
    takesInput(
      { name: 'zone token: header', largest: HEADERS },
      plain,
      (part) => `${json(`{"alg":"RS256","kid":"${part}"}`)}.e30.x`,
      verify,
    ),
    takesInput(
      { name: 'zone token: payload', largest: HEADERS },
      plain,
      (part) => `${head}.${json(part)}.${json('x'.repeat(256))}`,
      verify,
    ),
    ...['client-id', 'features', 'authorization', 'causeway-session', 'version'].map((key) =>
      takesInput({ name: `gRPC header ${key}`, largest: HEADERS }, plain, metadata(key), decodeZoneHeaders),
    ),
    takesText('list of revoked tokens', 1024 * 1024, plain, parseRevocations),
    takesText('validity of a token', 16 * 1024, textShapes(draw, [['1h', '']]), parseValidity),
    takesText('settings: a value', 128 * 1024, plain, (value) =>
      readSettings({ A: text(), CAUSEWAY_B: list() }, { env: { A: value, CAUSEWAY_B: value } }),
    ),
    takesText('settings: certificate names', 16 * 1024, plain, (value) => serverNames(value.split(','))),
  ];
}
