/** `npm run -s demo:curl`, `demo:status`, `demo:restart NAME`: while `npm start` runs, with the same CAUSEWAY_DATA_DIR. */
import { readFileSync } from 'node:fs';
import { Failure, runMain } from './lib/failure.mjs';
import { printable } from './lib/printable.mjs';
import { root } from './lib/root.mjs';
import { dataFolder } from './quickstart/settings.mjs';
import { demoFile } from './quickstart/traffic/demo.mjs';
import { ask, commands } from './quickstart/traffic/request.mjs';

await runMain(async () => {
  const [command, name] = process.argv.slice(2);
  const demo = readDemo(dataFolder(process.env, root));
  if (command === 'curl') return curl(demo);
  if (command === 'status') return print(await call(demo, 'GET', '/status'));
  if (command === 'restart' && name !== undefined)
    return print(await call(demo, 'POST', `/restart?name=${encodeURIComponent(name)}`));
  throw new Failure('it is demo:curl, demo:status or demo:restart NAME');
});

function readDemo(dataDir) {
  try {
    return JSON.parse(readFileSync(demoFile(dataDir), 'utf8'));
  } catch (cause) {
    throw new Failure(`no demo runs with the data folder ${dataDir}: npm start`, { cause });
  }
}

/** A client in west asks the service in east. */
async function curl({ trips: [trip] }) {
  if (!trip) throw new Failure('the demo carries no traffic: its output says why');
  const { ok, text, ip } = await ask(trip);
  if (ip !== undefined) console.error(printable(commands(trip, ip).curl));
  if (!ok) throw new Failure(`${trip.service} of ${trip.to} does not answer in ${trip.from}: ${text}`);
  print(text);
}

async function call({ url, secret }, method, path) {
  const response = await fetch(`${url}${path}`, { method, headers: { authorization: secret } }).catch((cause) => {
    throw new Failure('the demo has ended: npm start', { cause });
  });
  const text = (await response.text()).trimEnd();
  if (!response.ok) throw new Failure(text);
  return text;
}

function print(text) {
  console.log(printable(text));
}
