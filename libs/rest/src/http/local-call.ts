import { header, type Call } from './call';

const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'] as const;

/**
 * True for what a program on this machine asks itself: by a name of this machine, through no proxy, for no web page. A
 * page that has its own name point here (DNS rebinding) would else be taken for the operator (rest.md §5.2).
 */
export function isLocalCall(call: Call): boolean {
  const host = header(call, 'host') ?? '';
  if (!isLocalHost(host) || FORWARDED.some((name) => header(call, name) !== undefined)) return false;
  const origin = header(call, 'origin');
  const site = header(call, 'sec-fetch-site') ?? 'none';
  return (origin === undefined || origin === `http://${host}`) && ['none', 'same-origin'].includes(site);
}

function isLocalHost(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(host);
}
