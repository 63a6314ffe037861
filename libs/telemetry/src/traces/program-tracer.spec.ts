import { silentLogger, systemClock, type Logger } from '@causeway/runtime';
import { OtlpReceiver } from '../../../../test/support/otlp-receiver';
import { until } from '../../../../test/support/until';
import { ProgramTracer } from './program-tracer';

const [TRACE, SPAN] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
const SAMPLED = `00-${TRACE}-${SPAN}-01`;

function tracerTo(endpoint: string | undefined, ratio = 1, logger: Logger = silentLogger): ProgramTracer {
  return new ProgramTracer({
    endpoint,
    ratio,
    logger,
    program: { 'service.name': 'causeway-test' },
    clock: systemClock,
  });
}

describe('ProgramTracer', () => {
  it('traces nothing without an endpoint', async () => {
    const tracer = tracerTo(undefined);
    await tracer.start();
    expect([tracer.isOn, tracer.request('PUT', SAMPLED), tracer.step('s', SAMPLED)]).toEqual([
      false,
      undefined,
      undefined,
    ]);
    expect(tracer.spans()).toBeUndefined();
    await tracer.close();
  });

  describe('with a receiver', () => {
    let receiver: OtlpReceiver;
    beforeEach(async () => {
      receiver = await OtlpReceiver.start();
    });
    afterEach(() => receiver.stop());

    it('sends what has ended: in the trace of the caller, each under its parent', async () => {
      const tracer = tracerTo(receiver.url);
      await tracer.start();
      const request = tracer.request('PUT /x', SAMPLED);
      const step = tracer.step('store write', request?.traceparent, { attributes: { 'causeway.kind': 'Mesh' } });
      step?.end('Conflict');
      request?.end();
      await tracer.close();
      const [inner, outer] = receiver.trace(TRACE);
      expect([outer?.name, outer?.parentSpanId, outer?.service]).toEqual(['PUT /x', SPAN, 'causeway-test']);
      expect([inner?.name, inner?.parentSpanId]).toEqual(['store write', outer?.spanId]);
      expect([inner?.attributes, inner?.status]).toEqual([
        { 'causeway.kind': 'Mesh' },
        { code: 2, message: 'Conflict' },
      ]);
    });

    it('begins traces by the ratio, and follows what a caller has decided', async () => {
      const [all, none] = [tracerTo(receiver.url, 1), tracerTo(receiver.url, 0)];
      await Promise.all([all.start(), none.start()]);
      const unsampled = `00-${TRACE}-${SPAN}-00`;
      const begins = (tracer: ProgramTracer, parent?: string): boolean => tracer.request('GET', parent) !== undefined;
      expect([begins(all), begins(none)]).toEqual([true, false]);
      expect([begins(all, unsampled), begins(none, SAMPLED)]).toEqual([false, true]);
      expect([begins(all, 'no traceparent'), begins(none, 'no traceparent')]).toEqual([true, false]);
      expect(all.step('s', 'no traceparent')).toBeUndefined();
      await Promise.all([all.close(), none.close()]);
    });

    it('keeps a bounded number of spans while the receiver does not answer, and drops the others', async () => {
      const tracer = tracerTo(receiver.url);
      await tracer.start();
      receiver.hold();
      const ended = 20_000;
      for (let n = 0; n < ended; n++) tracer.request('PUT', undefined)?.end();
      await until('it has begun to send', () => receiver.requests > 0);
      for (let n = 0; n < ended; n++) tracer.request('PUT', undefined)?.end();
      receiver.release();
      await tracer.close();
      expect(receiver.spans.length).toBeGreaterThan(0);
      // The queue, and the request that was under way.
      expect(receiver.spans.length).toBeLessThanOrEqual(2_048 + 512);
    });
  });

  it('counts and logs what no receiver takes', async () => {
    const receiver = await OtlpReceiver.start();
    const { url } = receiver;
    await receiver.stop();
    const lines: string[] = [];
    const logger: Logger = { ...silentLogger, warn: (message) => void lines.push(message), child: () => logger };
    const tracer = tracerTo(url, 1, logger);
    await tracer.start();
    tracer.request('PUT', undefined)?.end();
    await until('it has failed', () => tracer.spans()?.failed === 1);
    expect(tracer.spans()).toEqual({ ended: 1, sent: 0, failed: 1 });
    expect(lines).toEqual(['traces could not be sent']);
    await tracer.close();
  });
});
