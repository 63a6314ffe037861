/** Imported before a property spec by a long test: each property draws this many times as many cases (tools/seeded-fast-check.js). */
const TIMES = 4;

process.env['CAUSEWAY_FUZZ_TIMES'] ??= String(TIMES);
