import { join } from 'node:path';
import { build, isBuilt } from '../lib/build.mjs';
import { diskFull } from '../lib/disk-failure.mjs';
import { Failure } from '../lib/failure.mjs';
import { install, isInstalled } from '../lib/install.mjs';
import { requireFreePorts } from './check-ports.mjs';
import { requireWritableFolder } from './writable-folder.mjs';
import { startControlPlane } from './control-plane.mjs';
import { hasSample, markSample, prepareDatabases } from './databases.mjs';
import { startOptions } from './plane-options.mjs';
import { restApi } from './rest-api.mjs';
import { applySample, readSample, servicesOf } from './sample.mjs';
import { provideLeaderLock, providePostgres } from './services.mjs';
import { untilSettled } from './settle.mjs';
import { serviceTable } from './table.mjs';
import { thingsToTry } from './things-to-try.mjs';
import { forgetCredentials, provideCredentials } from './zone-credentials.mjs';

/**
 * Brings up the mesh of the quickstart and keeps it up until `signal` aborts or a part of it ends.
 * Whatever it starts, it hands to `atEnd`, to be stopped in reverse order.
 */
export async function runQuickstart(settings, { signal, atEnd, say }) {
  await prepare(settings, { signal, say });
  const postgres = await providePostgres(settings, say);
  atEnd(postgres.stop);
  await prepareDatabases(postgres.url, settings.controlPlanes, settings);
  if (settings.fresh) forgetCredentials(settings.dataDir);
  say(`Postgres: ${postgres.description}`);
  const lock = await provideLeaderLock(settings);
  atEnd(lock.stop);
  say(`Leader lock: ${lock.description}`);

  const running = settings.controlPlanes.map((plane) =>
    startControlPlane(startOptions(settings, plane, { postgres, lock })),
  );
  atEnd(() => Promise.all(running.map((each) => each.stop())));
  const ended = Promise.race([
    ...running.map((each) => each.ended),
    postgres.ended.then((words) => Promise.reject(postgresEnd(words, settings))),
    whenAborted(signal),
  ]);
  // What ends the mesh ends the waiting for it as well: a control plane that refuses its database never gets ready.
  const over = new AbortController();
  ended.catch(() => over.abort());
  await Promise.race([
    ended,
    show({ settings, running, postgres, signal: AbortSignal.any([signal, over.signal]), say }),
  ]);
  await ended;
}

async function prepare({ root, dataDir, controlPlanes }, { signal, say }) {
  requireWritableFolder(dataDir);
  await requireFreePorts(controlPlanes, signal);
  if (!isInstalled(root)) {
    say('installing packages (npm ci, half a minute the first time)');
    await install(root, signal);
  }
  if (!isBuilt(root)) {
    say('building');
    await build(root, signal);
  }
}

/**
 * Waits for the control planes, applies the sample once, prints the tables. Only a control plane that does not get
 * ready ends it: if stored resources make a later step fail, users need the running mesh to correct them.
 */
async function show({ settings, running, postgres, signal, say }) {
  const [globalPlane, ...zonePlanes] = settings.controlPlanes;
  const zones = zonePlanes.map(({ name }) => name);
  const ready = Promise.all(running.map((each) => each.untilReady(signal)));
  ready.catch(() => {}); // whoever waits for it sees it
  await running[0].untilReady(signal);
  const attempt = attempts({ signal, say });
  await attempt('give the zones new tokens', () =>
    provideCredentials(restApi(globalPlane, { ...settings, signal }), zones, settings.dataDir),
  );
  await ready;
  say(`Control planes: global, east and west are ready, their logs in ${join(settings.dataDir, 'logs')}`);
  const apis = settings.controlPlanes.map((plane) => restApi(plane, { ...settings, signal }));
  const expected = await attempt('apply the sample', () => applySampleOnce({ settings, apis, postgres, say }));
  const seen = await attempt('show what the zones see', () => showTables({ apis, expected, signal, say }));
  say(`\n${await thingsToTry(settings, seen?.at(-1) ?? [])}`);
  say('\nRunning. Ctrl-C ends it; the next `npm start` finds its data.');
}

/** Runs steps that the mesh can do without: a failure is printed in one line and gives undefined. */
function attempts({ signal, say }) {
  return async (what, work) => {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) throw error;
      say(`\nIt was not possible to ${what}: ${error.message}`);
      return undefined;
    }
  };
}

/** Gives the services of each zone. */
async function showTables({ apis, expected = [], signal, say }) {
  const [globalApi, ...zoneApis] = apis;
  const { lists, waitingFor } = await untilSettled({ globalApi, zoneApis, expected, signal });
  zoneApis.forEach(({ name }, index) => say(`\nWhat zone ${name} sees\n${serviceTable(lists[index])}`));
  if (waitingFor.length > 0) say(`\nNot there yet: ${waitingFor.join(', ')}`);
  return lists;
}

/** Gives the services that the sample registers; none when it was applied by an earlier start. */
async function applySampleOnce({ settings, apis, postgres, say }) {
  const [global] = settings.controlPlanes;
  if (await hasSample(postgres.url, global)) {
    say('Sample: applied by an earlier start');
    return [];
  }
  const expected = [];
  for (const [index, plane] of settings.controlPlanes.entries()) {
    const documents = await readSample(settings.root, plane);
    await applySample(apis[index], documents);
    expected.push(...servicesOf(documents, plane.name));
  }
  await markSample(postgres.url, global);
  say('Sample: examples/quickstart is applied');
  return expected;
}

function postgresEnd(words, { dataDir }) {
  const full = diskFull(words, { folder: dataDir, doing: 'Postgres ended' });
  return full ?? new Failure(`Postgres ended by itself:\n${words}`);
}

function whenAborted(signal) {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
