/** Returns the folder with the programs of the npm package's Postgres that an account can run, or of a copy under `copyRoot`. */
export function postgresBinaries(
  account: { readonly uid: number; readonly gid: number } | undefined,
  copyRoot: string,
): string;
