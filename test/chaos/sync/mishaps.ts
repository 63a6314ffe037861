import type { Prng } from '../../simulation/engine/prng';
import type { ChaosMesh } from './chaos-mesh';
import type { ReplicaProcess } from './replica-process';

/** Something that goes wrong, and its end. */
export interface Mishap {
  readonly name: string;
  /** The objects that it befalls; two mishaps at once have none in common. */
  readonly targets: readonly object[];
  /** Its duration, ms. */
  readonly lasts: number;
  begin(): Promise<void> | void;
  end(): Promise<void> | void;
}

type Draw = (mesh: ChaosMesh, chance: Prng) => Mishap;

const kill: Draw = (mesh, chance) => {
  const target = chance.pick(mesh.replicas);
  return {
    name: 'kill',
    targets: [target],
    lasts: chance.between(0, 3_000),
    begin: () => target.kill(),
    end: () => target.start(),
  };
};

/** Up to several leases: it wakes up when others have gone on without it. */
const pause: Draw = (mesh, chance) => {
  const target = chance.pick(mesh.replicas);
  const lasts = chance.between(500, 5_000);
  return { name: 'pause', targets: [target], lasts, begin: () => target.pause(), end: () => target.resume() };
};

const cut: Draw = (mesh, chance) => {
  const target = chance.pick([...mesh.links.values()]);
  return {
    name: 'cut',
    targets: [target],
    lasts: chance.between(0, 4_000),
    begin: () => target.cut(),
    end: () => target.heal(),
  };
};

const slow: Draw = (mesh, chance) => {
  const target = chance.pick([...mesh.links.values()]);
  const ms = chance.between(20, 700);
  const lasts = chance.between(1_000, 5_000);
  return { name: 'slow', targets: [target], lasts, begin: () => target.slow(ms), end: () => target.heal() };
};

const halfOpen: Draw = (mesh, chance) => {
  const target = chance.pick([...mesh.links.values()]);
  const lasts = chance.between(1_000, 6_000);
  return { name: 'half-open', targets: [target], lasts, begin: () => target.silence(), end: () => target.heal() };
};

/** Only new connections work again: both ends have to find out, which takes them longer than a short run. */
const lostConnection: Draw = (mesh, chance) => {
  const target = chance.pick([...mesh.links.values()]);
  const lasts = chance.between(500, 2_000);
  return {
    name: 'lost connection',
    targets: [target],
    lasts,
    begin: () => target.silence(),
    end: () => target.heal(true),
  };
};

const move: Draw = (mesh, chance) => {
  const target = chance.pick([...mesh.links.values()]);
  const to = chance.pick<ReplicaProcess>(mesh.globals).kdsPort;
  return { name: 'move', targets: [target], lasts: 0, begin: () => target.lead(to), end: () => undefined };
};

const databaseAway: Draw = (mesh, chance) => {
  const target = chance.pick([...mesh.databases.values()]);
  const lasts = chance.between(0, 3_000);
  return {
    name: 'database away',
    targets: [target],
    lasts,
    begin: () => target.goAway(),
    end: () => target.comeBack(),
  };
};

/** All control planes lose their database at once; answered writes must have been recovered when it is back. */
const serverCrash: Draw = ({ server, databases }, chance) => ({
  name: 'server crash',
  targets: [...databases.values()],
  lasts: chance.between(0, 3_000),
  begin: () => server.crash(),
  end: () => server.recover(),
});

const SOON_OVER: readonly (readonly [number, Draw])[] = [
  [3, kill],
  [3, pause],
  [2, cut],
  [2, slow],
  [2, halfOpen],
  [2, move],
  [2, databaseAway],
  [2, serverCrash],
];

/** The next fault; `patient` runs also have those that end only when a peer detects them. */
export function drawMishap(mesh: ChaosMesh, chance: Prng, patient: boolean): Mishap {
  return chance.weighted(patient ? [...SOON_OVER, [1, lostConnection]] : SOON_OVER)(mesh, chance);
}
