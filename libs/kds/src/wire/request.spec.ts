import { Metadata } from '@grpc/grpc-js';
import fc from 'fast-check';
import { decodeZoneHeaders, encodeZoneHeaders } from './headers';
import { NODE_FEATURES } from './node';
import { decodeRequest, encodeRequest, type WireRequest } from './request';

describe('a request', () => {
  it('has texts of a peer that no terminal obeys, of a bounded length', () => {
    const result = { kind: 'Mesh', name: 'a', mesh: '', version: '1', outcome: 'rejected' as const };
    const sent = {
      type: 'nack' as const,
      kind: 'Mesh',
      zone: 'east',
      nonce: 'n',
      message: 'no\u001b[2J\u009b\u202E',
      results: [{ ...result, reason: `\u0007${'x'.repeat(10_000)}` }],
    };
    const read = decodeRequest(encodeRequest(sent));
    expect(read).toMatchObject({ message: 'no?[2J??' });
    expect(read).toMatchObject({ results: [{ reason: expect.stringMatching(/^\?x{4094}…$/) }] });
  });

  const text = fc.string({ unit: 'binary' });
  const nonce = fc.string({ minLength: 1 });
  const head = { kind: text, zone: text };
  const result = fc.record({
    kind: text,
    name: text,
    mesh: text,
    version: text,
    // Made printable when it is read.
    reason: fc.string(),
    outcome: fc.constantFrom('applied' as const, 'rejected' as const, 'superseded' as const),
  });
  const results = fc.array(result, { maxLength: 3 });
  const metadata = fc.record({ version: text, config: text, controlPlaneId: text, features: fc.array(text) });
  const held = fc.dictionary(
    text.filter((key) => key !== '__proto__'),
    text,
  );
  const request: fc.Arbitrary<WireRequest> = fc.oneof(
    fc.record({ type: fc.constant('subscribe' as const), ...head, held, metadata }),
    fc.record({ type: fc.constant('ack' as const), ...head, nonce, results }),
    fc.record({ type: fc.constant('nack' as const), ...head, nonce, results, message: nonce }),
  );

  it('is decoded as it was encoded', () => {
    fc.assert(fc.property(request, (sent) => expect(decodeRequest(encodeRequest(sent))).toEqual(sent)));
  });

  it('without metadata subscribes all the same', () => {
    const sent: WireRequest = { type: 'subscribe', kind: 'Mesh', zone: 'east', held: {} };
    expect(decodeRequest(encodeRequest(sent))).toEqual(sent);
  });

  it('names all features a Kuma global asks for', () => {
    expect(NODE_FEATURES).toEqual([
      'zone-token',
      'hash-suffix',
      'hg-mz-selector',
      'producer-policy-flow',
      'optional-top-level-target-ref',
    ]);
  });
});

describe('the headers of a zone', () => {
  it('are decoded as they were encoded', () => {
    const headers = { zone: 'east', version: '0.1.0', session: 7, token: 'abc.def' };
    expect(decodeZoneHeaders(encodeZoneHeaders(headers))).toEqual({
      ...headers,
      features: ['zone-ping-health', 'hash-suffix'],
    });
  });

  it('have one field a feature', () => {
    expect(encodeZoneHeaders({ zone: 'east', version: '1' }).get('features')).toEqual([
      'zone-ping-health',
      'hash-suffix',
    ]);
  });

  it('of a Kuma zone are read as Node joins them', () => {
    const metadata = new Metadata();
    metadata.set('client-id', 'kz');
    metadata.set('features', 'zone-ping-health, hash-suffix');
    expect(decodeZoneHeaders(metadata)).toEqual({
      zone: 'kz',
      version: '',
      features: ['zone-ping-health', 'hash-suffix'],
    });
  });

  it.each(['', 'x', '1.5', '-1'])('with the session %j name none', (session) => {
    const metadata = new Metadata();
    metadata.set('causeway-session', session);
    expect(decodeZoneHeaders(metadata)).not.toHaveProperty('session');
  });
});
