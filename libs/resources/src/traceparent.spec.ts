import { formatTraceparent, parseTraceparent, recentTrace } from './traceparent';

const [TRACE, SPAN] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
const SAMPLED = `00-${TRACE}-${SPAN}-01`;

describe('a traceparent', () => {
  it.each([
    ['sampled', SAMPLED, { traceId: TRACE, spanId: SPAN, isSampled: true }],
    ['not sampled', `00-${TRACE}-${SPAN}-00`, { traceId: TRACE, spanId: SPAN, isSampled: false }],
    ['with other flags', `00-${TRACE}-${SPAN}-03`, { traceId: TRACE, spanId: SPAN, isSampled: true }],
    ['nothing', undefined, undefined],
    ['of another version', `01-${TRACE}-${SPAN}-01`, undefined],
    ['of a trace of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`, undefined],
    ['of a span of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`, undefined],
    ['in capitals', SAMPLED.toUpperCase(), undefined],
    ['with a line break at its end', `${SAMPLED.slice(0, 54)}\n`, undefined],
    ['with more behind it', `${SAMPLED}-x`, undefined],
    ['of any length', 'x'.repeat(10_000_000), undefined],
  ])('is read: %s', (_, text, want) => {
    expect(parseTraceparent(text)).toEqual(want);
  });

  it('is written as it was read', () => {
    const context = parseTraceparent(SAMPLED);
    expect(context && formatTraceparent(context)).toBe(SAMPLED);
  });

  it('counts for a minute, by a clock that may be behind', () => {
    const origin = { incarnation: 'i', revision: 1, committedAt: 1_000_000, traceparent: SAMPLED };
    const at = (now: number): string | undefined => recentTrace(origin, now);
    expect([at(1_059_999), at(1_060_000), at(990_000)]).toEqual([SAMPLED, undefined, SAMPLED]);
  });
});
