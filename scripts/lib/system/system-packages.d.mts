export function buildPackages(
  root: string,
  folder: string,
  kinds: readonly ('deb' | 'rpm')[],
): { readonly deb?: string; readonly rpm?: string };
