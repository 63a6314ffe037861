import { hostname, networkInterfaces } from 'node:os';

/** Every name and address that zones may know this machine by, and those that were configured besides, sorted. */
export function serverNames(configured: readonly string[]): readonly string[] {
  const addresses = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .map(({ address }) => address)
    .filter((address) => !address.includes('%'));
  return [...new Set([...configured, hostname(), 'localhost', '127.0.0.1', '::1', ...addresses])].sort();
}
