const NAME = 'CAUSEWAY_FUZZ_SEED';
const LARGEST = 2 ** 31;

/**
 * The seed of every fuzzer of this run: `CAUSEWAY_FUZZ_SEED` where the environment names one, else a fresh one, which is
 * put there for the processes that this one starts and is printed with how to repeat it. Throws for what is no seed.
 */
export function drawFuzzSeed(env = process.env, say = console.error) {
  if (env[NAME] === undefined || env[NAME] === '') {
    env[NAME] = String(Math.floor(Math.random() * LARGEST));
    say(`fuzzers draw by the fresh seed ${env[NAME]}; ${NAME}=${env[NAME]} repeats this run`);
  }
  const seed = Number(env[NAME]);
  if (!/^\d{1,10}$/.test(env[NAME]) || seed >= LARGEST)
    throw new Error(`${NAME} must be a whole number below ${LARGEST}; got "${env[NAME]}"`);
  return seed;
}
