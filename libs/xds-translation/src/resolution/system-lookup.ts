import { lookup as lookupBySystem, Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { NameAnswer, NameLookup } from './name-resolver';

const HOSTS_FILE = '/etc/hosts';
const MAX_HOSTS_BYTES = 1024 * 1024;
/** The TTL of entries of the hosts file, of answers of the system's library, and of empty answers, ms. */
const NO_TTL = 5_000;
const MISSING_TTL = 10_000;
/** Errors that mean that the name, or an address of it, does not exist. Any other error is no answer. */
const MISSING: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'ENONAME']);

/** Defaults to the servers in the system's configuration. */
export interface SystemLookupOptions {
  /** `address` or `address:port`. */
  readonly servers?: readonly string[];
  readonly hostsFile?: string;
}

/**
 * Looks names up as programs of this host do: the hosts file, then DNS, IPv4 before IPv6. A name that DNS does not have as written is looked up by
 * the system's library, which applies search domains; not if servers are given.
 */
export class SystemLookup implements NameLookup {
  private readonly resolver = new Resolver({ timeout: 2_000, tries: 2 });
  private readonly hostsFile: string;
  private readonly asksSystem: boolean;
  /** Serialises lookups by the library, because each takes a thread. */
  private system: Promise<unknown> = Promise.resolve();

  constructor({ servers = [], hostsFile = HOSTS_FILE }: SystemLookupOptions = {}) {
    if (servers.length > 0) this.resolver.setServers([...servers]);
    this.asksSystem = servers.length === 0;
    this.hostsFile = hostsFile;
  }

  async lookup(name: string): Promise<NameAnswer> {
    const written = await this.inHostsFile(name);
    if (written.length > 0) return { addresses: preferred(written), ttl: NO_TTL };
    const answer = (await this.ask(name, 4)) ?? (await this.ask(name, 6));
    if (answer) return answer;
    const found = this.asksSystem ? await this.bySystem(name) : [];
    return found.length > 0 ? { addresses: preferred(found), ttl: NO_TTL } : { addresses: [], ttl: MISSING_TTL };
  }

  /** Undefined if the name has no address of this family. */
  private async ask(name: string, family: 4 | 6): Promise<NameAnswer | undefined> {
    try {
      const found =
        family === 4
          ? await this.resolver.resolve4(name, { ttl: true })
          : await this.resolver.resolve6(name, { ttl: true });
      if (found.length === 0) return undefined;
      const ttl = Math.min(...found.map((each) => each.ttl)) * 1_000;
      return { addresses: found.map(({ address }) => address), ttl };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  private bySystem(name: string): Promise<readonly string[]> {
    const asked = this.system.then(async () => {
      try {
        return (await lookupBySystem(name, { all: true })).map(({ address }) => address);
      } catch (error) {
        if (isMissing(error)) return [];
        throw error;
      }
    });
    this.system = asked.catch(() => undefined);
    return asked;
  }

  private async inHostsFile(name: string): Promise<readonly string[]> {
    const text = await readFile(this.hostsFile, 'utf8').catch(() => '');
    return addressesInHosts(text.slice(0, MAX_HOSTS_BYTES), name);
  }
}

/** Returns the addresses of a name in a hosts file (hosts(5)). */
function addressesInHosts(text: string, name: string): readonly string[] {
  const wanted = name.toLowerCase().replace(/\.$/, '');
  return text.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    return isIP(address) !== 0 && names.some((each) => each.toLowerCase() === wanted) ? [address] : [];
  });
}

function preferred(addresses: readonly string[]): readonly string[] {
  const four = addresses.filter((address) => isIP(address) === 4);
  return four.length > 0 ? four : addresses;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && MISSING.has(error.code);
}
