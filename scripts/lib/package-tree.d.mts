export const COMMANDS: Readonly<Record<string, string>>;
export function layPackage(root: string, folder: string): void;
