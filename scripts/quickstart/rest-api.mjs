import { Failure } from '../lib/failure.mjs';
import { waitFor } from '../lib/wait.mjs';

const RETRY_FOR_MS = 15_000;

/** The REST interface of one control plane, as an administrator. An answer other than success is a Failure that quotes it. */
export function restApi(plane, { operatorToken, signal }) {
  const authorization = { authorization: `Bearer ${operatorToken}` };
  const call = (method, path, body) =>
    fetch(`${plane.restUrl}${path}`, {
      method,
      signal,
      headers: { ...authorization, ...(body && { 'content-type': 'application/json' }) },
      body: body && JSON.stringify(body),
    });
  const refused = async (response, method, path) =>
    new Failure(`${plane.name} answered ${response.status} to ${method} ${path}: ${(await response.text()).trim()}`);
  /** Repeats a request for a while as long as it is answered with one of `passing`. */
  const retried = async (method, path, passing, body) => {
    let response;
    const attempt = async () => {
      response = await call(method, path, body);
      return !passing.includes(response.status);
    };
    await waitFor(attempt, { timeoutMs: RETRY_FOR_MS, signal });
    if (!response.ok) throw await refused(response, method, path);
  };

  return {
    name: plane.name,
    async get(path) {
      const response = await call('GET', path);
      if (!response.ok) throw await refused(response, 'GET', path);
      return response.json();
    },
    /** The items of a list; none where its mesh does not exist. */
    async list(path) {
      const response = await call('GET', path);
      if (response.status === 404) return [];
      if (!response.ok) throw await refused(response, 'GET', path);
      return (await response.json()).items;
    },
    /** The text of an answer. */
    async text(method, path, body) {
      const response = await call(method, path, body);
      if (!response.ok) throw await refused(response, method, path);
      return response.text();
    },
    /** Waits for a resource: a zone learns its meshes from the global. */
    async until(path) {
      await retried('GET', path, [404]);
    },
    /** A 503 (no leader yet) passes, so it is tried again for a while. */
    async put(path, body) {
      await retried('PUT', path, [503], body);
    },
  };
}
