import { generateKeyPairSync } from 'node:crypto';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { DeltaDiscoveryRequest, DiscoveryRequest, Node } from '@causeway/proto-gen';
import type { JsonObject } from '@causeway/resources';
import { FakeClock } from '@causeway/runtime/testing';
import { DEFAULT_XDS_LIMITS, RESOURCE_TYPES } from '@causeway/xds-server';
import { DATAPLANE_TOKEN } from '../../../libs/access/src/dataplanes/dataplane-tokens';
import { verifyToken } from '../../../libs/access/src/tokens/signed-token';
import { checkCsr } from '../../../libs/identity/src/x509';
import { readBootstrapRequest } from '../../../libs/agent-service/src/bootstrap/bootstrap-request';
import { readDocument } from '../../../libs/agent-service/src/proxies/dataplane-registrar';
import { readProxyNode } from '../../../libs/agent-service/src/proxies/proxy-node';
import {
  decodeRequest,
  readNodeBytes,
  ResponseEncoder,
  type AdsForm,
} from '../../../libs/xds-server/src/server/ads-messages';
import { AdsSession } from '../../../libs/xds-server/src/server/ads-session';
import { NameBudget } from '../../../libs/xds-server/src/server/name-budget';
import { ProxyRejections } from '../../../libs/xds-server/src/server/rejections';
import { SendBudget } from '../../../libs/xds-server/src/server/send-budget';
import { Subscribers } from '../../../libs/xds-server/src/server/subscribers';
import type { Prng } from '../../simulation/engine/prng';
import { MapSource } from '../../support/xds-source';
import { takesInput, takesText, type EntryPoint, type Shape } from '../entry-point';
import { numbered, repeated, textShapes } from '../shapes/texts';

/** A request may be four times as large; beyond this only few long fields are not refused by their number. */
const REQUEST = 4 * 1024 * 1024;
/** Limit of the node of a request, in bytes: all that a proxy reports about itself. */
const NODE = 512 * 1024;
/** Limit of HTTP/2 for the headers of one call, in bytes. */
const HEADERS = 64 * 1024;
/** The body of POST /bootstrap. */
const BOOTSTRAP = 512 * 1024;

/** Entry points of xDS: requests of ADS, the node, tokens, CSRs, and bootstrap requests. */
export function xdsEntries(draw: Prng): EntryPoint[] {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const rules = { keys: new Map([[1, { serial: 1, publicKey }]]), revoked: new Set<string>() };
  const json = (value: string): string => Buffer.from(value).toString('base64url');
  const head = json('{"alg":"RS256","kid":"1"}');
  const verify = (token: string): Promise<unknown> => verifyToken(token, DATAPLANE_TOKEN, rules, Date.now());
  const texts = textShapes(draw);
  const frame = ['-----BEGIN CERTIFICATE REQUEST-----\n', '\n-----END CERTIFICATE REQUEST-----\n'] as const;
  return [
    ...(['delta', 'sotw'] as const).map((form): EntryPoint => ({
      name: `ADS request, ${form}`,
      largest: REQUEST,
      shapes: requestShapes(form, draw),
    })),
    takesText('ADS rejection', REQUEST, textShapes(draw, [['listener inbound:10.0.0.1:', ': no']]), reject()),
    takesText('node of a proxy', NODE, texts, (text) =>
      readProxyNode({ node: `default.${text}`, metadata: metadataOf(text), userAgent: text }),
    ),
    takesText('Dataplane of a kuma-dp', 128 * 1024, textShapes(draw, [['{"networking":"', '"}']]), (document) =>
      readDocument({ document, mesh: 'default', name: 'a' }),
    ),
    takesText('CSR', NODE, textShapes(draw, [frame, [`${frame[0]}MIG5MGICAQAwADBZMBMG`, frame[1]]]), checkCsr),
    takesText('dataplane token', HEADERS, textShapes(draw, [[`${head}.`, '.x']]), verify),
    takesInput(
      { name: 'dataplane token: payload', largest: HEADERS },
      texts,
      (part) => `${head}.${json(part)}.${json('x'.repeat(256))}`,
      verify,
    ),
    { name: 'POST /bootstrap', largest: BOOTSTRAP, shapes: bootstrapShapes() },
  ];
}

/** A session reads the bytes as a stream does, up to its answer. */
function takeIn(form: AdsForm, bytes: Buffer): unknown {
  const source = new MapSource();
  const clock = new FakeClock(0);
  const session = new AdsSession<string>(
    { id: 'a', view: '' },
    {
      form,
      source,
      clock,
      subscribers: new Subscribers<string>(clock),
      encoder: new ResponseEncoder(),
      counters: { responses: 0, resources: 0, unchanged: 0, rejections: 0, staleNonces: 0 },
      mostNames: DEFAULT_XDS_LIMITS.names,
      names: new NameBudget(1_000_000, 0),
      budget: new SendBudget<string>(DEFAULT_XDS_LIMITS.unackedBytes, clock),
      send: () => undefined,
      rejected: () => undefined,
      moved: () => undefined,
      failed: () => undefined,
    },
  );
  const node = readNodeBytes(form, bytes);
  return [node && Node.decode(node), session.receive(decodeRequest(form, bytes))];
}

function requestShapes(form: AdsForm, draw: Prng): Shape[] {
  const typeUrl = RESOURCE_TYPES.endpoints;
  const bytes = (name: string, make: (size: number) => Uint8Array): Shape => ({
    name,
    prepare: (size) => {
      const made = Buffer.from(make(size));
      return () => takeIn(form, made);
    },
  });
  const request = (name: string, make: (size: number) => object): Shape =>
    bytes(name, (size) =>
      form === 'delta'
        ? DeltaDiscoveryRequest.encode(DeltaDiscoveryRequest.fromPartial({ typeUrl, ...make(size) })).finish()
        : DiscoveryRequest.encode(DiscoveryRequest.fromPartial({ typeUrl, ...make(size) })).finish(),
    );
  const list = (size: number, each: number, one: (i: number) => string): string[] =>
    Array.from({ length: Math.ceil(size / each) }, (_, i) => one(i));
  const names = (all: readonly string[]): object =>
    form === 'delta' ? { resourceNamesSubscribe: all } : { resourceNames: all };
  const deep = (depth: number): JsonObject => JSON.parse('{"a":'.repeat(depth) + '1' + '}'.repeat(depth));
  return [
    request('many names', (size) => names(list(size, 10, (i) => `e-${i}`))),
    request('long names', (size) => names(list(size, 2_000, (i) => repeated(`${i}`, 1_990)))),
    request('one name again', (size) => names(list(size, 3, () => 'a'))),
    request('many names no longer wanted', (size) => ({ resourceNamesUnsubscribe: list(size, 10, (i) => `e-${i}`) })),
    request('many versions', (size) => ({
      initialResourceVersions: Object.fromEntries(list(size, 16, (i) => `e-${i}`).map((name) => [name, 'v'])),
    })),
    request('a long type', (size) => ({ typeUrl: repeated('a', size) })),
    request('a long nonce', (size) => ({ responseNonce: repeated('a', size) })),
    request('a long rejection', (size) => ({ errorDetail: { code: 3, message: repeated('a: no\n', size) } })),
    request('much metadata', (size) => ({
      node: { id: 'a', metadata: Object.fromEntries(list(size, 16, (i) => `k${i}`).map((key) => [key, 'v'])) },
    })),
    request('deep metadata', (size) => ({ node: { id: 'a', metadata: deep(Math.min(500, size / 12)) } })),
    bytes('unknown fields', (size) => {
      const out = new BinaryWriter();
      for (let i = 0; i * 5 < size; i++) out.uint32((200 + (i % 10_000)) * 8 + 2).string('x');
      return out.finish();
    }),
    bytes('noise', (size) => Uint8Array.from({ length: size }, () => draw.between(0, 255))),
    bytes('zeros', (size) => new Uint8Array(size)),
    bytes('groups in groups', (size) => new Uint8Array(size).fill((200 * 8 + 3) & 0x7f)),
  ];
}

/** Returns a function that reads the error text of a proxy about a response with a thousand listeners. */
function reject(): (text: string) => void {
  const told = Array.from({ length: 1_000 }, (_, i) => ({
    type: RESOURCE_TYPES.listener,
    name: `inbound:10.0.0.1:${i}`,
    version: 'v',
    bytes: Buffer.alloc(0),
  }));
  return (text) => new ProxyRejections().reject(told, { text, at: 0 }, 1);
}

function metadataOf(text: string): JsonObject {
  return { 'causeway.io/capture': text, 'causeway.io/key-file': `/${text}`, 'causeway.io/csr': text };
}

function bootstrapShapes(): Shape[] {
  const shape = (name: string, make: (size: number) => string): Shape => ({
    name,
    prepare: (size) => {
      const text = make(size);
      return () => readBootstrapRequest(JSON.parse(text));
    },
  });
  return [
    shape('unknown fields', (size) => `{${numbered(size, (i) => `"k${i}":1`)}}`),
    shape('many features', (size) => `{"name":"a","features":[${numbered(size, (i) => `"f${i}"`)}]}`),
    shape('features that are none', (size) => `{"name":"a","features":[${numbered(size, () => '{}')}]}`),
    shape('much metadata', (size) => `{"name":"a","dynamicMetadata":{${numbered(size, (i) => `"k${i}":"v"`)}}}`),
    shape('a large version', (size) => `{"name":"a","version":{${numbered(size, (i) => `"k${i}":{}`)}}}`),
    ...['name', 'mesh', 'proxyType', 'dataplaneToken', 'dataplaneResource', 'caCert'].map((field) =>
      shape(`a long ${field}`, (size) => `{"${field}":"${repeated('a', size)}"}`),
    ),
    shape('deep', (size) => `{"name":"a","version":${'{"a":'.repeat(size / 6)}1${'}'.repeat(size / 6)}}`),
  ];
}
