import { Label, shortened, type Labels } from '@causeway/resources';

/** The parts of a resource identifier; absent parts are empty. */
export interface Kri {
  readonly shortName: string;
  readonly mesh: string;
  readonly zone: string;
  readonly namespace: string;
  readonly name: string;
  /** Part of the resource, such as a port's name. */
  readonly section: string;
}

/** The parts of a resource that determine its identifier; zone and namespace come from the labels (docs/reference/kuma-rest.md §1.7). */
export interface KriSubject {
  readonly shortName: string;
  readonly mesh: string;
  readonly name: string;
  readonly labels: Labels;
}

/** Returns `kri_<short>_<mesh>_<zone>_<namespace>_<name>_<section>`, which is the same on every control plane. */
export function formatKri(subject: KriSubject, section = ''): string {
  const { shortName, mesh, name, labels } = subject;
  const parts = [shortName, mesh, labels[Label.zone] ?? '', labels[Label.namespace] ?? ''];
  return ['kri', ...parts, labels[Label.displayName] || name, section].join('_');
}

/**
 * Parses an identifier, or returns the reason why it is invalid. Underscores beyond the sixth belong to the section,
 * since no name contains one; Kuma drops them.
 */
export function parseKri(
  text: string,
): { readonly ok: true; readonly kri: Kri } | { readonly ok: false; readonly reason: string } {
  const [prefix, shortName = '', mesh = '', zone = '', namespace = '', name = '', ...section] = text.split('_');
  if (prefix !== 'kri') return { ok: false, reason: `an identifier starts with "kri_"; got "${shortened(text, 300)}"` };
  if (section.length === 0) {
    return {
      ok: false,
      reason: `an identifier is kri_<short>_<mesh>_<zone>_<namespace>_<name>_<section>; got "${shortened(text, 300)}"`,
    };
  }
  if (shortName === '' || name === '')
    return { ok: false, reason: `an identifier names a kind and a resource; got "${shortened(text, 300)}"` };
  return { ok: true, kri: { shortName, mesh, zone, namespace, name, section: section.join('_') } };
}
