/**
 * Preloaded into test files and every program that a test run starts (jest-global-setup.js): RSA keys of 2,048 bits come from a pool of this
 * checkout. To generate one takes a quarter of a second of CPU, and each control plane with a new database makes two. The pool is a queue over
 * all processes, so a key comes again only after all others; the first runs of a checkout fill it.
 */
const crypto = require('node:crypto');
const { mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { promisify } = require('node:util');

const FOLDER = join(__dirname, '..', 'node_modules', '.cache', 'rsa-keys');
const SUFFIX = '.pem';

/** Far more than one test file draws. */
const POOL_SIZE = 64;

const { generateKeyPair, generateKeyPairSync } = crypto;
let named = 0;

/** Returns the next name in the queue: names sort by the time of their last draw. */
function nextFile() {
  named += 1;
  return join(FOLDER, `${Date.now()}-${process.pid}-${named}${SUFFIX}`);
}

/** Draws the key that was drawn longest ago; undefined while the pool is not full. */
function drawKey() {
  mkdirSync(FOLDER, { recursive: true });
  const names = readdirSync(FOLDER).filter((name) => name.endsWith(SUFFIX));
  if (names.length < POOL_SIZE) return undefined;
  for (const name of names.sort()) {
    const file = nextFile();
    try {
      renameSync(join(FOLDER, name), file);
    } catch {
      continue; // another process drew it
    }
    const privateKey = crypto.createPrivateKey(readFileSync(file));
    return { privateKey, publicKey: crypto.createPublicKey(privateKey) };
  }
  return undefined;
}

function keepKey(pair) {
  const file = nextFile();
  writeFileSync(`${file}.new`, pair.privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return pair;
}

function isPooled(type, options) {
  return type === 'rsa' && options?.modulusLength === 2_048 && Object.keys(options).length === 1;
}

async function providePair(type, options) {
  if (!isPooled(type, options)) return promisify(generateKeyPair)(type, options);
  return drawKey() ?? keepKey(await promisify(generateKeyPair)(type, options));
}

crypto.generateKeyPair = Object.assign(
  (type, options, done) => {
    if (!isPooled(type, options)) return generateKeyPair(type, options, done);
    return void providePair(type, options).then(
      ({ publicKey, privateKey }) => done(null, publicKey, privateKey),
      (error) => done(error),
    );
  },
  { [promisify.custom]: providePair },
);

crypto.generateKeyPairSync = (type, options) =>
  isPooled(type, options)
    ? (drawKey() ?? keepKey(generateKeyPairSync(type, options)))
    : generateKeyPairSync(type, options);
