type Packages = 'all' | 'run';
export const RUN_PACKAGES: Packages;
export const ALL_PACKAGES: Packages;
export function isInstalled(root: string, packages: Packages): boolean;
export function install(root: string, packages: Packages, signal?: AbortSignal): Promise<void>;
