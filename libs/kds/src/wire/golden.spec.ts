import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DeltaDiscoveryRequest, DeltaDiscoveryResponse, KumaResource } from '@causeway/proto-gen';
import { KUMA_DIALECT } from './dialect';
import { decodeRequest, encodeRequest } from './request';
import { ResourceEncoder } from './resource-encoder';
import { encodeResponse, type IncomingResponse } from './response';
import { decodeResponse } from '../../testing/decode-response';
import { formatWireKey } from './wire-resource';

const FOLDER = join(__dirname, '../../testdata/golden');

interface Recorded {
  readonly message: string;
  readonly base64: string;
  readonly decoded: unknown;
}

/** Messages recorded between Kuma 2.14.3 control planes. */
const recorded = readdirSync(FOLDER).flatMap((file) => {
  const messages: Recorded[] = JSON.parse(readFileSync(join(FOLDER, file), 'utf8'));
  return messages.map((message, i) => ({
    ...message,
    title: `${file} ${i}`,
    bytes: Buffer.from(message.base64, 'base64'),
  }));
});
const responses = recorded.filter(({ message }) => message === 'DeltaDiscoveryResponse');
const requests = recorded.filter(({ message }) => message === 'DeltaDiscoveryRequest');

it('has messages of both sorts', () => {
  expect(responses.length).toBeGreaterThan(30);
  expect(requests.length).toBeGreaterThan(20);
});

describe('recorded responses', () => {
  it.each(responses)('$title says what was recorded', ({ bytes, decoded }) => {
    expect(summaryOfResponse(bytes)).toEqual(decoded);
  });

  it.each(responses)('$title is understood, and said again is understood as the same', ({ bytes }) => {
    const received = decodeResponse(bytes, KUMA_DIALECT);
    expect(received.resources.filter((r) => !r.ok)).toEqual([]);
    expect(withoutVersions(decodeResponse(again(received), KUMA_DIALECT))).toEqual(withoutVersions(received));
  });

  it.each(responses)('$title keeps every spec byte for byte or in meaning', ({ bytes }) => {
    const before = specsOf(bytes);
    const after = specsOf(again(decodeResponse(bytes, KUMA_DIALECT)));
    expect(after).toEqual(before);
  });
});

describe('recorded requests', () => {
  it.each(requests)('$title says what was recorded', ({ bytes, decoded }) => {
    expect(summaryOfRequest(bytes)).toEqual(decoded);
  });

  it.each(requests)('$title is understood, and said again is understood as the same', ({ bytes }) => {
    const request = decodeRequest(bytes);
    expect(decodeRequest(encodeRequest(request))).toEqual(request);
  });

  it.each(requests.filter(({ title }) => title.includes('ack')))('$title is said again byte for byte', ({ bytes }) => {
    expect(encodeRequest(decodeRequest(bytes)).toString('hex')).toBe(bytes.toString('hex'));
  });
});

/** Encodes a received response again, as a relaying control plane would. */
function again(received: IncomingResponse): Buffer {
  const encoder = new ResourceEncoder({ role: 'global' }, { meshServicesMode: 'Disabled' });
  const resources = received.resources.map((r) => {
    if (!r.ok) throw new Error(r.fault.reason);
    const encoding = encoder.encodeWire(r.resource, KUMA_DIALECT);
    if (!encoding.ok) throw new Error(encoding.reason);
    return encoding.resource;
  });
  return encodeResponse({ ...received, resources });
}

function withoutVersions({ resources, ...head }: IncomingResponse): unknown {
  return { ...head, resources: resources.map((r) => (r.ok ? r.resource : r.fault)) };
}

/** Specs as Kuma reads them, in Kuma's language. */
function specsOf(bytes: Buffer): unknown {
  return summaryOf(DeltaDiscoveryResponse.decode(bytes)).map(({ name, mesh, labels, spec }) => ({
    name,
    mesh,
    labels,
    spec,
  }));
}

function summaryOfResponse(bytes: Buffer): unknown {
  const message = DeltaDiscoveryResponse.decode(bytes);
  const resources = summaryOf(message);
  const { typeUrl, nonce, removedResources } = message;
  expect(decodeResponse(bytes, KUMA_DIALECT).removed.map(formatWireKey)).toEqual(removedResources);
  return {
    typeUrl,
    nonce,
    controlPlane: message.controlPlane?.identifier,
    ...(resources.length > 0 ? { resources } : {}),
    ...(removedResources.length > 0 ? { removed: removedResources } : {}),
  };
}

function summaryOf(message: DeltaDiscoveryResponse) {
  return message.resources.map((outer) => {
    const { meta, spec, status } = KumaResource.decode(outer.resource?.value ?? Buffer.alloc(0));
    return {
      outer: outer.name,
      version: outer.version,
      name: meta?.name,
      ...(meta?.mesh === '' ? {} : { mesh: meta?.mesh }),
      labels: meta?.labels,
      spec: spec?.typeUrl === '' ? parse(spec.value) : { '@': spec?.typeUrl, hex: spec?.value.toString('hex') },
      ...(status === undefined ? {} : { status: parse(status.value) }),
    };
  });
}

function summaryOfRequest(bytes: Buffer): unknown {
  const request = decodeRequest(bytes);
  const { resourceNamesSubscribe, errorDetail } = DeltaDiscoveryRequest.decode(bytes);
  return {
    node: request.zone,
    ...(request.type === 'subscribe' ? { features: request.metadata?.features } : { nonce: request.nonce }),
    typeUrl: request.kind,
    ...(resourceNamesSubscribe.length > 0 ? { subscribe: resourceNamesSubscribe } : {}),
    ...(errorDetail === undefined ? {} : { error: errorDetail.message }),
  };
}

function parse(bytes: Buffer): unknown {
  return JSON.parse(bytes.toString('utf8'));
}
